// Gossip between nodes of ours with blocks of 8 Mgas every 200 ms. npm run bench -- gossip [--blocks N] [--only heads|arrivals]
import type { Row } from './format.ts'
import { arrivals } from './gossip/arrivals.ts'
import { heads } from './gossip/heads.ts'

export type GossipOptions = { readonly blocks?: number; readonly only?: string }

export async function run({ blocks = 100, only = '' }: GossipOptions = {}): Promise<readonly Row[]> {
  return [...(only === 'arrivals' ? [] : await heads(blocks)), ...(only === 'heads' ? [] : await arrivals(blocks))]
}

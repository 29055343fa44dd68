import { type RecordedChain, readRecordedChain } from '#devnet/recordedChain'
import type { NodeOptions } from '#node/nodeOptions'

const host = '127.0.0.1'
export const anyPort = { host, port: 0 } as const

export const l1At = (url: string, pollMs = 50): NonNullable<NodeOptions['l1']> => ({ rpcUrls: [url], beaconUrls: [url], pollMs })

/** Options of a node on a recorded chain. By default it serves nothing and derives nothing. */
export function nodeOptions(
  changes: Partial<NodeOptions> & Pick<NodeOptions, 'datadir' | 'mode'>,
  chain: Pick<RecordedChain, 'config' | 'genesis'> = readRecordedChain('op-bedrock-to-holocene'),
): NodeOptions {
  return {
    config: chain.config,
    genesis: () => chain.genesis,
    version: '1.2.3',
    listen: {},
    isAdminOn: false,
    readyMaxLagSec: 30,
    minFreeBytes: 0,
    ...changes,
  }
}

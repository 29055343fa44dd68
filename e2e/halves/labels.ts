import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessChain, safeAfter } from '#test/harness/process/chain'
import type { NodeProcess } from '../nodeProcess.ts'

export type Labels = Readonly<Record<'unsafe' | 'safe' | 'finalized', string>>

/** Distance of finalized L1 behind its head in blocks (devnet/recordedL1). */
const finalizedLag = 5

/** Returns the expected labels for a head of L1. */
export function expectedLabels(chain: ProcessChain, l1Head: number): Labels {
  const { hash } = safeAfter(chain, l1Head)
  return { unsafe: hash, safe: hash, finalized: safeAfter(chain, l1Head - finalizedLag).hash }
}

/** Returns the three labels from a node's chain RPC. */
export async function labelsOf(node: NodeProcess): Promise<Labels> {
  const hashOf = async (tag: string): Promise<string> =>
    ((await node.rpc('http', 'eth_getBlockByNumber', [tag, false])) as { hash?: string } | null)?.hash ?? 'none'
  return { unsafe: await hashOf('latest'), safe: await hashOf('safe'), finalized: await hashOf('finalized') }
}

type SyncStatus = Readonly<Record<'unsafe_l2' | 'safe_l2' | 'finalized_l2', { readonly hash: string; readonly number: number }>>

/** Returns the three labels from the consensus half. */
export async function syncLabelsOf(node: NodeProcess): Promise<Labels> {
  const { unsafe_l2, safe_l2, finalized_l2 } = (await node.rpc('rollup', 'optimism_syncStatus')) as SyncStatus
  return { unsafe: unsafe_l2.hash, safe: safe_l2.hash, finalized: finalized_l2.hash }
}

function differentLabel(who: string, found: Labels, expected: Labels): string | undefined {
  const label = (['unsafe', 'safe', 'finalized'] as const).find((name) => found[name] !== expected[name])
  return label && `${label} of ${who} is ${found[label]}, not ${expected[label]}`
}

/** Returns the port of /readyz: the rollup port if the node has one. */
export const readyOf = (node: NodeProcess): ReturnType<NodeProcess['ready']> => node.ready(node.proxies.rollup ? 'rollup' : 'http')

/** Returns true when every node serves, has these labels and is ready; otherwise the problem. */
export async function compare(nodes: readonly NodeProcess[], expected: Labels): Promise<true | string> {
  for (const node of nodes) {
    if (!node.isUp) return `${node.name} does not serve`
    const difference =
      (node.proxies.http && differentLabel(`${node.name}, eth`, await labelsOf(node), expected)) ??
      (node.proxies.rollup && differentLabel(`${node.name}, syncStatus`, await syncLabelsOf(node), expected))
    if (difference) return difference
    const { isReady, problems } = await readyOf(node)
    if (!isReady) return `${node.name} is not ready: ${problems.join('; ')}`
  }
  return true
}

/** Creates a secret of the Engine API for both halves. @returns its flags */
export function jwtFlags(folder: string): readonly string[] {
  const path = join(folder, 'jwt.hex')
  writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 })
  return ['--jwt', path]
}

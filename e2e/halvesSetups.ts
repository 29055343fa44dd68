import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chainFlags, type ProcessChain, safeAfter } from '#test/harness/processChain'
import { type FaultyL1, startFaultyL1 } from '#test/harness/recordedL1'
import { createNodeProcess, type NodeProcess, type NodeSpec } from './nodeProcess.ts'

export type Victim = { readonly name: string; readonly nodes: readonly NodeProcess[] }

/** Processes that work on one chain, whose L1 is revealed by the caller. */
export interface Setup extends AsyncDisposable {
  readonly chain: ProcessChain
  readonly l1: FaultyL1
  readonly nodes: readonly NodeProcess[]
  /** what may be killed at once */
  readonly victims: readonly Victim[]
  /** those that have the chain and serve it */
  readonly holders: readonly NodeProcess[]
  /** Whether all are ready and have what L1 says, up to its present head; what is missing otherwise. */
  together(): Promise<true | string>
}

type Labels = Readonly<Record<'unsafe' | 'safe' | 'finalized', string>>

/** Finalized L1 is this many blocks behind its head (devnet/recordedL1). */
const finalizedLag = 5
const l1PollMs = 100

export function expectedLabels({ chain, l1 }: Pick<Setup, 'chain' | 'l1'>): Labels {
  const { hash } = safeAfter(chain, l1.l1.head)
  return { unsafe: hash, safe: hash, finalized: safeAfter(chain, l1.l1.head - finalizedLag).hash }
}

/** The three labels as a node serves them. */
export async function labelsOf(node: NodeProcess): Promise<Labels> {
  const hashOf = async (tag: string): Promise<string> =>
    ((await node.rpc('http', 'eth_getBlockByNumber', [tag, false])) as { hash?: string } | null)?.hash ?? 'none'
  return { unsafe: await hashOf('latest'), safe: await hashOf('safe'), finalized: await hashOf('finalized') }
}

type SyncStatus = Readonly<Record<'unsafe_l2' | 'safe_l2' | 'finalized_l2', { readonly hash: string; readonly number: number }>> & {
  readonly current_l1: { readonly number: number }
  readonly head_l1: { readonly number: number }
}

/** The three labels as the consensus half tells them. */
export async function syncLabelsOf(node: NodeProcess): Promise<Labels> {
  const { unsafe_l2, safe_l2, finalized_l2 } = (await node.rpc('rollup', 'optimism_syncStatus')) as SyncStatus
  return { unsafe: unsafe_l2.hash, safe: safe_l2.hash, finalized: finalized_l2.hash }
}

/** The first label that differs, in words; undefined: none. */
export function differentLabel(who: string, found: Labels, expected: Labels): string | undefined {
  const label = (['unsafe', 'safe', 'finalized'] as const).find((name) => found[name] !== expected[name])
  return label && `${label} of ${who} is ${found[label]}, not ${expected[label]}`
}

async function notReady(node: NodeProcess): Promise<string | undefined> {
  const served = node.proxies.rollup ? 'rollup' : 'http'
  const { isReady, problems } = await node.ready(served)
  return isReady ? undefined : `${node.name} is not ready: ${problems.join('; ')}`
}

async function compare(setup: Pick<Setup, 'chain' | 'l1' | 'nodes'>): Promise<true | string> {
  const expected = expectedLabels(setup)
  for (const node of setup.nodes) {
    if (!node.isUp) return `${node.name} does not serve`
    if (node.proxies.http) {
      const difference = differentLabel(`${node.name}, eth`, await labelsOf(node), expected)
      if (difference) return difference
    }
    if (node.proxies.rollup) {
      const difference = differentLabel(`${node.name}, syncStatus`, await syncLabelsOf(node), expected)
      if (difference) return difference
    }
    const problem = await notReady(node)
    if (problem) return problem
  }
  return true
}

type Built = { readonly nodes: readonly NodeProcess[]; readonly victims: readonly Victim[] }
type Build = (node: (spec: Omit<NodeSpec, 'folder'>) => Promise<NodeProcess>, l1Flags: readonly string[], folder: string) => Promise<Built>

async function assemble(chain: ProcessChain, folder: string, build: Build): Promise<Setup> {
  await using starting = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const l1 = starting.use(await startFaultyL1(chain.l1, 0))
  const files = chainFlags(chain, folder)
  const node = async ({ name, args, serves }: Omit<NodeSpec, 'folder'>): Promise<NodeProcess> =>
    starting.use(await createNodeProcess({ name, folder: join(folder, name), args: [...files, ...args], serves }))
  const l1Flags = ['--l1.rpc', l1.url, '--l1.beacon', l1.url, '--l1.poll-interval', String(l1PollMs)]
  const { nodes, victims } = await build(node, l1Flags, folder)
  const parts = starting.move()
  return {
    chain,
    l1,
    nodes,
    victims,
    holders: nodes.filter(({ proxies }) => proxies.http),
    together: () => compare({ chain, l1, nodes }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** A secret for the Engine API, for both halves. @returns the flags that name it */
function jwtFlags(folder: string): readonly string[] {
  const path = join(folder, 'jwt.hex')
  writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 })
  return ['--jwt', path]
}

const whole: Build = async (node, l1Flags) => {
  const all = await node({ name: 'all', args: l1Flags, serves: ['http', 'rollup'] })
  return { nodes: [all], victims: [{ name: 'all', nodes: [all] }] }
}

const apart: Build = async (node, l1Flags, folder) => {
  const jwt = jwtFlags(folder)
  const execution = await node({
    name: 'execution',
    args: ['--mode', 'execution', ...jwt],
    serves: ['http', 'engine', 'metrics'],
  })
  const consensus = await node({
    name: 'consensus',
    args: ['--mode', 'consensus', '--engine', execution.url('engine'), ...jwt, ...l1Flags],
    serves: ['rollup', 'metrics'],
  })
  return {
    nodes: [execution, consensus],
    victims: [
      { name: 'execution', nodes: [execution] },
      { name: 'consensus', nodes: [consensus] },
      { name: 'both', nodes: [execution, consensus] },
    ],
  }
}

const follow: Build = async (node, l1Flags) => {
  const source = await node({ name: 'source', args: l1Flags, serves: ['http', 'ws', 'rollup', 'metrics'] })
  const follower = await node({ name: 'follower', args: ['--source.l2.rpc', source.url('http')], serves: ['http', 'rollup', 'metrics'] })
  return {
    nodes: [source, follower],
    victims: [
      { name: 'follower', nodes: [follower] },
      { name: 'source', nodes: [source] },
      { name: 'both', nodes: [source, follower] },
    ],
  }
}

/** One process with both halves; two halves over the Engine API; a node, and one without L1 that follows it. */
export const setups = {
  whole: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, whole),
  apart: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, apart),
  follow: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, follow),
}
export type SetupName = keyof typeof setups

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type FaultyL1, startFaultyL1 } from '#test/harness/l1/recordedL1'
import { chainFlags, type ProcessChain } from '#test/harness/process/chain'
import { createNodeProcess, type NodeProcess, type NodeSpec } from '../nodeProcess.ts'
import { compare, expectedLabels, jwtFlags } from './labels.ts'
import type { Halves } from './watch.ts'

export type Victim = { readonly name: string; readonly nodes: readonly NodeProcess[] }

/** Processes of one chain, whose L1 the caller reveals. */
export interface Setup extends AsyncDisposable {
  readonly chain: ProcessChain
  readonly l1: FaultyL1
  readonly nodes: readonly NodeProcess[]
  /** groups of processes to kill together */
  readonly victims: readonly Victim[]
  /** nodes that serve the chain */
  readonly holders: readonly NodeProcess[]
  readonly halves: Halves
  /** Returns true when all nodes are ready and have the labels of L1's current head; otherwise the problem. */
  together(): Promise<true | string>
}

const l1PollMs = 100
/** A recorded chain is old, so its head would never count as fresh. */
export const anyLagSec = '1000000'

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
    halves: build === apart ? 'apart' : 'together',
    together: () => compare(nodes, expectedLabels(chain, l1.l1.head)),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

const whole: Build = async (node, l1Flags) => {
  const all = await node({ name: 'all', args: l1Flags, serves: ['http', 'rollup', 'metrics'] })
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
  const follower = await node({
    name: 'follower',
    args: ['--source.l2.rpc', source.url('http'), '--ready.max-lag', anyLagSec],
    serves: ['http', 'rollup', 'metrics'],
  })
  return {
    nodes: [source, follower],
    victims: [
      { name: 'follower', nodes: [follower] },
      { name: 'source', nodes: [source] },
      { name: 'both', nodes: [source, follower] },
    ],
  }
}

/** One process with both halves; two halves over the Engine API; a node and a follower without L1. */
export const setups = {
  whole: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, whole),
  apart: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, apart),
  follow: (chain: ProcessChain, folder: string): Promise<Setup> => assemble(chain, folder, follow),
}
export type SetupName = keyof typeof setups

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyDatabase } from '#database/verify'
import { systemClock } from '#lib/clock'
import { type GrowingSource, startSource } from '../../bench/anchored/source.ts'
import { readStateWorld } from '../../bench/state/world.ts'
import { chainFlags, digestOf } from '../crash/snapshotRuns.ts'
import { must } from '../crash/tally.ts'
import { createNodeProcess, eventually, type NodeProcess } from '../nodeProcess.ts'

/** Time between two blocks of the source. */
const blockMs = 1_000
const untilMs = 1_200_000
/** The block with which the node begins. */
const anchor = 3

export type Setup = { readonly source: GrowingSource; readonly node: NodeProcess }

/** Returns the phase of the fill; `none`: the state was whole when the node started. */
export async function phaseOf(node: NodeProcess): Promise<string> {
  const text = await (await fetch(`${node.url('metrics')}/metrics`, { signal: AbortSignal.timeout(5_000) })).text()
  return /basalt_state_fill_info\{phase="(\w+)"\} 1/.exec(text)?.[1] ?? 'none'
}

export const waitUntil = (what: string, isSo: () => Promise<boolean>): Promise<number> => eventually(what, untilMs, isSo, 200)

export type Torment = {
  readonly name: string
  /** folder with a generated state and its blocks, which is copied */
  readonly template: string
  /** number of blocks of the template */
  readonly blocks: number
  /** folder of the node */
  readonly dir: string
  /** of the fill */
  readonly bandwidth: string
  /** Returns the sources of the node. */
  readonly stateUrls?: (source: GrowingSource) => readonly string[]
  /** @returns facts for the report */
  readonly run: (setup: Setup) => Promise<Record<string, unknown>>
}

const headOf = async (node: NodeProcess): Promise<number> => Number(await node.rpc('http', 'eth_blockNumber'))

/** Returns the most blocks that the head of a node has been behind its source, until the signal is aborted. A node that does not answer does not count. */
async function mostBehind({ source, node }: Setup, signal: AbortSignal): Promise<number> {
  let most = 0
  while (!signal.aborted) {
    const { head } = source
    most = Math.max(most, head - (await headOf(node).catch(() => head)))
    await delay(500)
  }
  return most
}

/**
 * Starts an anchored node and torments it while the source grows. When its state is whole, it has the head and the rows of the source.
 */
export async function torment({ name, template, blocks, dir, bandwidth, stateUrls, run }: Torment): Promise<void> {
  const startMs = performance.now()
  const home = join(dir, 'source')
  cpSync(template, join(home, 'data'), { recursive: true })
  await using source = await startSource(home, blocks, readStateWorld(join(home, 'data')))
  for (let i = 0; i < anchor; i++) await source.grow()
  const url = source.node.url('http')
  const given = ['--start.block-hash', source.payloads[anchor - 1]?.blockHash ?? '', '--trust.require', 'given']
  const state = ['--source.state', (stateUrls?.(source) ?? [url]).join(), '--fill.bandwidth', bandwidth, '--db.min-free', '2MB']
  const args = [...chainFlags(source.world), '--start', 'anchored', ...given, '--source.l2.rpc', url, ...state]
  await using node = await createNodeProcess({ name, folder: join(dir, 'node'), args, serves: ['http', 'metrics'] })
  node.spawn()
  await node.up()
  const stop = new AbortController()
  const growing = source.growEvery(blockMs, stop.signal)
  const behind = mostBehind({ source, node }, stop.signal)
  const facts = await run({ source, node })
  if (!node.isRunning) node.spawn()
  await node.up()
  await waitUntil(`${name}: the state is whole`, async () => ['whole', 'none'].includes(await phaseOf(node)))
  stop.abort()
  await growing
  await waitUntil(`${name}: the head`, async () => (await headOf(node)) === source.head)
  await node.stop()
  await source.node.stop()
  const [found, expected] = [join(dir, 'node', 'data'), source.world.dir].map((each) => digestOf(join(each, 'chain')))
  must((await found) === (await expected), `${name}: the rows differ from those of the source`)
  const seconds = Math.round((performance.now() - startMs) / 1_000)
  console.log(`${name}: ${JSON.stringify({ ...facts, head: source.head, mostBehind: await behind, seconds })}, all rows equal`)
}

/** @throws Error unless the database of a tormented node verifies, with its blocks and its older states */
export async function requireVerified({ name, dir }: Pick<Torment, 'name' | 'dir'>): Promise<void> {
  const deps = { clock: systemClock, signal: new AbortController().signal, onProgress: (): void => {} }
  const { done, found, differences } = await verifyDatabase(deps, { datadir: join(dir, 'node', 'data') })
  must(done && found === 0, `${name}: ${JSON.stringify(differences)}`)
}

// A day at mainnet's pace in fast motion: a node in a control group builds blocks on a generated state and makes each the head, as fast as it can, while
// it moves finalized blocks to segment files, and removes states, blocks, receipts and logs older than an hour.
// npm run bench -- day [--dir DIR] [--blocks 100000] [--gas 8] [--memoryMax 4096]: DIR has a state that `stateMake` made, and is changed: blocks stay.
// --blocks: number of the last block. A later run in DIR continues with the next block, so a day can be measured in parts; rows of the database are of all
// parts then, those of memory of each part, and the others of the last part. --gas: Mgas a block. Requires root for the control group.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, Heads } from '#engine/port'
import { openForeignChainReader, segmentsDir } from '#store/chainTables'
import { environmentStats } from '#store/environmentStats'
import { rpcCall } from '#test/harness/process/cliProcess'
import type { L2Ref } from '#types/blockRef'
import { DenimBlocks } from '../denim/chain.ts'
import { senders } from '../denim/senders.ts'
import { distribution, type Row, row } from '../format.ts'
import { residentMb } from '../processTree.ts'
import { inFolder } from '../rpc/servers.ts'
import { type StateOptions, sizeOf } from './make.ts'
import { StateMix } from './mix.ts'
import { commitTimes, type StateNode, startStateNode, type ThreadMb } from './node.ts'
import { limitMemory } from './pageCache.ts'
import { createProgress } from './progress.ts'
import { makeStateWorld, readStateWorld, type StateWorld } from './world.ts'

export type DayOptions = StateOptions & { readonly blocks?: number; readonly gas?: number }

/** 200 ms blocks of an hour */
const hourBlocks = 18_000
/** Distance of the finalized block behind the head: two minutes. */
const finalizedBehind = 600
const sampleEvery = 500
/** Retention is reached after an hour and the blocks that are not finalized; as long again is the warm-up. */
const steadyFrom = 2 * hourBlocks
/** Tables that keep rows of `--retain.history` only. */
const boundedTables = ['changes', 'nodeHistory', 'nodeIndex', 'historyIndex']
const retained = ['history', 'bodies', 'receipts', 'logs'].flatMap((what) => [`--retain.${what}`, '1h'])
const flags = [...retained, '--log.level', 'debug']

/**
 * At a block: anonymous memory of the node, of which its caches and that of its threads; bytes of the database and the segment files without free pages,
 * size of the database file, and the bytes in tables with a bound. `first`: first block of the node's process.
 */
type Sample = {
  readonly block: number
  readonly first: number
  readonly ownMb: number
  /** absent in samples of earlier versions, as is the memory of threads */
  readonly cachesMb?: number
  readonly threads?: readonly ThreadMb[]
  readonly heldMb: number
  readonly fileMb: number
  readonly boundedMb: number
}

/** An engine that labels the block two minutes below each head as safe and finalized. */
function finalizing(
  engine: Engine,
  start: Heads,
): Pick<Engine, 'build' | 'payload' | 'setHeads'> & { readonly published: { heads: Heads } } {
  const recent: L2Ref[] = []
  const published = { heads: start }
  return {
    published,
    build: (parent, attributes) => engine.build(parent, attributes),
    payload: (at) => engine.payload(at),
    async setHeads({ unsafe }): Promise<void> {
      recent.push(unsafe)
      const finalized = recent.length > finalizedBehind ? (recent.shift() ?? unsafe) : published.heads.finalized
      published.heads = { unsafe, safe: finalized, finalized }
      await engine.setHeads(published.heads)
    },
  }
}

/** Samples of all parts of a day. */
const samplesFile = ({ dir }: StateWorld): string => join(dir, 'day.jsonl')

function samplesOf(world: StateWorld): readonly Sample[] {
  const lines = existsSync(samplesFile(world)) ? readFileSync(samplesFile(world), 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line) as Sample)
}

/** Returns the transactions that follow the head of a node. */
async function mixAfter(head: number, { model }: StateWorld, { url }: StateNode): Promise<StateMix> {
  const nonces: number[] = []
  for (const sender of senders) nonces.push(Number(await rpcCall(url, 'eth_getTransactionCount', [sender, 'latest'])))
  return new StateMix(model, { block: head, nonces })
}

async function sampled({ dir }: StateWorld, { pid, memory }: StateNode, first: number, block: number): Promise<Sample> {
  await using chain = openForeignChainReader(join(dir, 'chain'))
  using _pages = chain.snapshot() // keeps the pages that are counted
  const { fileBytes, usedBytes, freeBytes, tables } = environmentStats(join(dir, 'chain'))
  const bounded = tables.filter(({ name }) => boundedTables.includes(name)).reduce((sum, { bytes }) => sum + bytes, 0)
  const held = usedBytes - freeBytes + sizeOf(segmentsDir(join(dir, 'chain')))
  const { own: ownMb } = residentMb(pid)
  return { block, first, ownMb, ...(await memory()), heldMb: held / 1e6, fileMb: fileBytes / 1e6, boundedMb: bounded / 1e6 }
}

/** Returns the slope of a line through samples, by least squares. */
function slopePerHour(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length
  const [x, y] = [mean(samples.map(({ block }) => block)), mean(samples.map(value))]
  const over = samples.reduce((sum, sample) => sum + (sample.block - x) * (value(sample) - y), 0)
  return (over / samples.reduce((sum, { block }) => sum + (block - x) ** 2, 0)) * hourBlocks
}

async function live(world: StateWorld, { blocks = 100_000, gas = 8, memoryMax = 4_096 }: DayOptions): Promise<readonly Row[]> {
  using limit = limitMemory(memoryMax * 2 ** 20)
  await using node = await startStateNode(world, (pid) => limit.add(pid), flags)
  const chain = { config: world.config, execution: finalizing(node.engine, await node.engine.heads()) }
  const made = await DenimBlocks.on(world.config, chain)
  const head = chain.execution.published.heads.unsafe.number
  const mix = await mixAfter(head, world, node)
  if (head === 0) for (const transactions of mix.setUp()) await made.add(transactions)
  const first = chain.execution.published.heads.unsafe.number + 1
  const times: number[] = []
  const progress = createProgress(blocks - first + 1, 'blocks')
  let [size, megagas] = [gas * 12, 0]
  for (let block = first; block <= blocks; block++) {
    const transactions = Array.from({ length: Math.round(size) }, () => mix.next())
    const startMs = performance.now()
    const { gasUsed } = await made.add(transactions)
    times.push(performance.now() - startMs)
    megagas += Number(gasUsed) / 1e6
    size *= 1 + 0.1 * ((gas * 1e6) / Number(gasUsed) - 1)
    if (block % sampleEvery === 0) {
      const sample = await sampled(world, node, first, block)
      appendFileSync(samplesFile(world), `${JSON.stringify(sample)}\n`)
    }
    progress.add(1)
  }
  progress.end()
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1_000
  const name = (what: string): string => `blocks ${first} to ${blocks} of ${gas} Mgas, kept for an hour: ${what}`
  return [
    row(name('built and made the head'), 'blocks/s', [times.length / seconds]),
    row(name('gas'), 'Mgas/s', [megagas / seconds]),
    distribution(name('block until it is the head'), 'ms, less is better', times),
    distribution(name('transaction of blocks'), 'ms, less is better', commitTimes(node.logged())),
    ...memoryRows(samplesOf(world)),
    ...databaseRows(samplesOf(world)),
  ]
}

/** Rows of each process that wrote blocks after its warm-up. */
function memoryRows(samples: readonly Sample[]): readonly Row[] {
  return [...new Set(samples.map(({ first }) => first))].flatMap((first) => {
    const own = samples.filter((sample) => sample.first === first)
    const warm = own.filter(({ block }) => block > Math.max(steadyFrom, first + hourBlocks))
    const [from, to] = [warm[0]?.block, warm.at(-1)?.block]
    if (from === undefined) return []
    const values = warm.map(({ ownMb }) => ownMb)
    return [
      distribution(`anonymous memory of a process from block ${first} on, blocks ${from} to ${to}`, 'MB, less is better', values),
      ...slopeRow(`growth of anonymous memory of a process from block ${first} on, blocks ${from} to ${to}`, warm, ({ ownMb }) => ownMb),
      ...slopeRow(
        `growth of its caches, blocks ${from} to ${to}`,
        warm.filter(({ cachesMb }) => cachesMb !== undefined),
        ({ cachesMb = 0 }) => cachesMb,
      ),
      ...heapRows(warm, from, to),
    ]
  })
}

/** Rows of the heaps of JavaScript, by thread. */
function heapRows(samples: readonly Sample[], from: number, to: number | undefined): readonly Row[] {
  const heaps = Map.groupBy(
    samples.flatMap(({ threads = [] }) => threads),
    ({ name }) => name,
  )
  return [...heaps].map(([name, threads]) => {
    const values = threads.map(({ heapMb }) => heapMb)
    return distribution(`heap of JavaScript of threads named ${name}, blocks ${from} to ${to}`, 'MB, less is better', values)
  })
}

function databaseRows(samples: readonly Sample[]): readonly Row[] {
  const steady = samples.filter(({ block }) => block > steadyFrom)
  const [held, bounded] = [({ heldMb }: Sample) => heldMb, ({ boundedMb }: Sample) => boundedMb]
  const parts: readonly (readonly [string, (sample: Sample) => number])[] = [
    ['database and segment files without free pages', held],
    ['tables of older states', bounded],
  ]
  const file = samples.map(({ fileMb }) => Math.round(fileMb))
  return [
    ...parts.flatMap(([name, value]) => [
      ...(steady.length === 0 ? [] : [distribution(`${name}, from block ${steadyFrom}`, 'MB, less is better', steady.map(value))]),
      ...slopeRow(`growth of the ${name}, from block ${steadyFrom}`, steady, value),
    ]),
    row('database file after each 500 blocks', 'MB, less is better', file),
  ]
}

/** No row: fewer than two samples. */
function slopeRow(name: string, samples: readonly Sample[], value: (sample: Sample) => number): readonly Row[] {
  return samples.length < 2 ? [] : [row(name, 'MB an hour of chain time', [slopePerHour(samples, value)])]
}

async function measure(dir: string, options: DayOptions): Promise<readonly Row[]> {
  if (existsSync(join(dir, 'genesis.json'))) return await live(readStateWorld(dir), options)
  const { accounts = 200_000, slots = 2_000_000, seed = 1 } = options
  return await live(await makeStateWorld(dir, { seed, accounts, slots }, () => {}), options)
}

export const run = (options: DayOptions): Promise<readonly Row[]> =>
  options.dir === undefined ? inFolder('day', (folder) => measure(folder, options)) : measure(options.dir, options)

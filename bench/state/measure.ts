// A node over a generated state: execution of blocks over the Engine API, memory, and times of roots.
// npm run bench -- state --dir DIR [--blocks 200] [--rounds 1] [--memoryMax MB]
// Each run ends with a kill of the node, whose next start is measured too.
// Cold: the database is removed from the page cache before the node starts. Warm: the same blocks in a new process, right after the cold run, so that
// the pages they need are in the page cache as far as memory permits. Paced: the same again, but five blocks a second, mainnet's rate.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { l2RefOf } from '#chainspec/l2Ref'
import { parsePayload } from '#engine/payloadJson'
import type { Engine, Heads } from '#engine/port'
import { systemClock } from '#lib/clock'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { distribution, type Row, row } from '../format.ts'
import { cpuSec, processTree, residentMb } from '../processTree.ts'
import { type MadeBlocks, makeBlocks, removeBlocks } from './blocks.ts'
import { requireDir, type StateOptions, sizeOf } from './make.ts'
import { type CachedReads, commitTimes, type StateNode, startStateNode } from './node.ts'
import { cachedBytes, diskUse, dropFromPageCache, limitMemory, type MemoryLimit } from './pageCache.ts'
import { rootTimes } from './rootTimes.ts'
import { readStateWorld, type StateWorld } from './world.ts'

type Options = StateOptions & { readonly blocks?: number; readonly rounds?: number }

const defaultBlocks = 200
/** Blocks before the measurement, for which the node compiles its code. */
const warmBlocks = 30
/** Time between two blocks of mainnet. */
const blockMs = 200

export function readPayloads(path: string): readonly Payload[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { p, root } = JSON.parse(line) as { p: unknown; root: string }
    return parsePayload(p, parseHash(root))
  })
}

/**
 * Executes payloads and makes each the head.
 * @param everyMs time from the start of a block to that of the next; 0: as soon as possible
 * @returns the time of each in milliseconds
 */
export async function insertAll(
  engine: Engine,
  { config }: StateWorld,
  payloads: readonly Payload[],
  everyMs = 0,
): Promise<readonly number[]> {
  const labels = await engine.heads()
  const times: number[] = []
  const beganMs = performance.now()
  for (const [i, payload] of payloads.entries()) {
    if (everyMs > 0) await systemClock.delay(Math.max(0, beganMs + i * everyMs - performance.now()))
    const startMs = performance.now()
    const inserted = await engine.insert(payload)
    if (inserted.kind === 'invalid') throw new Error(`block ${payload.blockNumber}: ${inserted.reason}`)
    await engine.setHeads({ ...labels, unsafe: l2RefOf(config, payload) })
    times.push(performance.now() - startMs)
  }
  return times
}

type Run = {
  /** from the start of the process until it serves, after a stop in order */
  readonly startMs: number
  /** the same after a kill with blocks that are not committed */
  readonly killedStartMs: number
  /** ms */
  readonly times: readonly number[]
  /** ms of each transaction of blocks */
  readonly commits: readonly number[]
  readonly seconds: number
  /** of the node */
  readonly processorSec: number
  readonly diskBytes: number
  readonly diskFaults: number
  readonly writtenBytes: number
  readonly residentMb: { readonly all: number; readonly files: number }
  /** of all blocks of the process */
  readonly cachedReads: CachedReads
}

/** Waits until a transaction ends at a block, so that the next run does not begin with the removal of this one's blocks. */
async function untilCommitted(node: StateNode, number: number): Promise<void> {
  const isCommitted = (line: string): boolean => line.includes('"committed"') && (JSON.parse(line) as { number: number }).number === number
  while (!node.logged().some(isCommitted)) await systemClock.delay(200)
}

const flags = ['--log.level', 'debug']

/** Executes the blocks in a new process and kills it. */
async function runUntilKilled(
  world: StateWorld,
  { payloads, first }: Blocks,
  limit: MemoryLimit | undefined,
  everyMs: number,
): Promise<Omit<Run, 'killedStartMs'> & { readonly labels: Heads }> {
  await using node = await startStateNode(world, (pid) => limit?.add(pid), flags)
  const labels = await node.engine.heads()
  await insertAll(node.engine, world, payloads.slice(0, first))
  const tree = processTree(node.pid)
  const [before, cpuBefore, logBefore] = [diskUse(tree), cpuSec(node.pid), node.logged().length]
  const times = await insertAll(node.engine, world, payloads.slice(first), everyMs)
  const [after, processorSec] = [diskUse(tree), cpuSec(node.pid) - cpuBefore]
  const [memory, cachedReads] = [residentMb(node.pid), await node.cachedReads()]
  const commits = commitTimes(node.logged().slice(logBefore))
  for (const pid of tree) process.kill(pid, 'SIGKILL')
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1_000
  const [diskBytes, diskFaults, writtenBytes] = [after.bytes - before.bytes, after.faults - before.faults, after.written - before.written]
  return {
    startMs: node.startMs,
    times,
    commits,
    seconds,
    processorSec,
    diskBytes,
    diskFaults,
    writtenBytes,
    residentMb: memory,
    cachedReads,
    labels,
  }
}

/** A node keeps removed blocks in its journal and would execute them from there, without the work of other threads ahead of them. */
const forgetRemoved = ({ dir }: StateWorld): void => rmSync(join(dir, 'chain', 'journal'), { recursive: true, force: true })

/** Removes the blocks above the labels. @returns time until the node serves, in milliseconds */
async function removeRun(world: StateWorld, labels: Heads, limit: MemoryLimit | undefined): Promise<number> {
  await using node = await startStateNode(world, (pid) => limit?.add(pid), flags)
  await node.engine.setHeads(labels)
  await untilCommitted(node, labels.unsafe.number)
  return node.startMs
}

/** Executes the blocks in a new process, kills it, and removes them again in another one. */
async function runBlocks(world: StateWorld, blocks: Blocks, limit: MemoryLimit | undefined, everyMs = 0): Promise<Run> {
  const { labels, ...run } = await runUntilKilled(world, blocks, limit, everyMs)
  const killedStartMs = await removeRun(world, labels, limit)
  forgetRemoved(world)
  return { ...run, killedStartMs }
}

/** `first`: index of the first block that is measured. */
type Blocks = { readonly payloads: readonly Payload[]; readonly first: number }

function rowsOf(kind: string, runs: readonly Run[], { payloads, first }: Blocks, made: MadeBlocks): readonly Row[] {
  const measured = payloads.slice(first)
  const megagas = measured.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) / 1e6
  const name = (what: string): string => `large state, ${kind}: ${what}`
  const per = (value: (run: Run) => number): number[] => runs.map(value)
  const perBlock = made.coldSlots + made.hotSlots
  return [
    row(
      name('start'),
      'ms, less is better',
      per(({ startMs }) => startMs),
    ),
    row(
      name('start after a kill'),
      'ms, less is better',
      per(({ killedStartMs }) => killedStartMs),
    ),
    row(
      name('gas'),
      'Mgas/s',
      per(({ seconds }) => megagas / seconds),
    ),
    row(
      name('gas for a second of processor time'),
      'Mgas/s',
      per(({ processorSec }) => megagas / processorSec),
    ),
    ...latencyRows(`large state, ${kind}`, runs),
    row(
      name('slots that calls name'),
      'slots/s',
      per(({ seconds }) => (perBlock * measured.length) / seconds),
    ),
    row(
      name('cold slots among them'),
      'slots/s',
      per(({ seconds }) => (made.coldSlots * measured.length) / seconds),
    ),
    row(
      name('page faults that read the disk'),
      'faults/s',
      per(({ seconds, diskFaults }) => diskFaults / seconds),
    ),
    row(
      name('page faults that read the disk'),
      'faults for each block',
      per(({ diskFaults }) => diskFaults / measured.length),
    ),
    row(
      name('read from the disk'),
      'MB/s',
      per(({ seconds, diskBytes }) => diskBytes / 1e6 / seconds),
    ),
    row(
      name('written, nearly all of it pages of the database'),
      'MB for each block',
      per(({ writtenBytes }) => writtenBytes / 1e6 / measured.length),
    ),
    row(
      name('reads of trie nodes that the cache answers'),
      '%',
      per(({ cachedReads: { nodes } }) => nodes),
    ),
    row(
      name('reads of codes that the cache answers'),
      '%',
      per(({ cachedReads: { code } }) => code),
    ),
    row(
      name('resident memory'),
      'MB, less is better',
      per(({ residentMb: { all } }) => all),
    ),
    row(
      name('resident memory without pages of files'),
      'MB, less is better',
      per(({ residentMb: { all, files } }) => all - files),
    ),
  ]
}

function latencyRows(what: string, runs: readonly Run[]): readonly Row[] {
  const unit = 'ms, less is better'
  const [times, commits] = [runs.flatMap((one) => one.times), runs.flatMap((one) => one.commits)]
  return [distribution(`${what}: block until it is the head`, unit, times), distribution(`${what}: transaction of blocks`, unit, commits)]
}

export async function run(options: Options): Promise<readonly Row[]> {
  const { blocks = defaultBlocks, rounds = 1, memoryMax } = options
  const world = readStateWorld(requireDir(options))
  await removeBlocks(world)
  const made = await makeBlocks(world, warmBlocks + blocks)
  const payloads = readPayloads(made.path)
  const all = { payloads, first: payloads.length - blocks }
  forgetRemoved(world)
  const database = join(world.dir, 'chain', 'data.mdb')
  using limit = memoryMax === undefined ? undefined : limitMemory(memoryMax * 2 ** 20)
  const runs: { readonly cold: Run[]; readonly warm: Run[]; readonly paced: Run[] } = { cold: [], warm: [], paced: [] }
  for (let round = 0; round < rounds; round++) {
    dropFromPageCache(database)
    process.stderr.write(`cold run, ${(cachedBytes(database) / 1e6).toFixed(1)} MB of the database in the page cache\n`)
    runs.cold.push(await runBlocks(world, all, limit))
    process.stderr.write(`warm run, ${(cachedBytes(database) / 1e6).toFixed(1)} MB of the database in the page cache\n`)
    runs.warm.push(await runBlocks(world, all, limit))
    process.stderr.write('run at five blocks a second\n')
    runs.paced.push(await runBlocks(world, all, limit, blockMs))
  }
  return [
    ...rowsOf('cold', runs.cold, all, made),
    ...rowsOf('warm', runs.warm, all, made),
    ...latencyRows('large state, five blocks a second', runs.paced),
    row('large state: database', 'MB, less is better', [sizeOf(join(world.dir, 'chain')) / 1e6]),
    ...(await rootTimes(world)),
  ]
}

import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { proofsStatus } from '#database/proofs/proofsStatus'
import { verifyRecorded } from '#database/proofs/verifyRecorded'
import { must } from '../crash/tally.ts'
import { type Aim, killedWork, type Work } from './killedWork.ts'
import type { Kind, Range } from './kinds.ts'
import { chainBlocks } from './settings.ts'
import { completeProofs, digestOf, madeAnew } from './templates.ts'

/** Counts of one kind of work. */
export type Tally = {
  kills: number
  /** kills in a transaction of the proofs */
  inside: number
  /** kills before the first piece of work of a process */
  atStart: number
  /** whole works, each of which was verified over its window */
  finished: number
  verifiedBlocks: number
  /** recorded blocks that were removed because the chain replaced them */
  unwound: number
  slowestStartMs: number
  /** the most processor time of a start, of all threads */
  mostStartCpuMs: number
}

const { signal } = new AbortController()

/** Verifies recorded blocks. @throws Error with the first difference */
async function verify(name: string, datadir: string, random: () => number, count: number | 'all', tally: Tally): Promise<Range> {
  const deps = { signal, random: (below: number): number => Math.floor(random() * below), onProgress(): void {} }
  const { done, blocks, earliest, latest, differences } = await verifyRecorded(deps, { datadir }, count)
  must(done && differences.length === 0, `${name}: ${JSON.stringify(differences[0])}`)
  tally.verifiedBlocks += blocks
  return { earliest, latest }
}

/** Blocks that are verified after each kill. */
const sampled = 3

/** Requires that the window moved in the direction of the work only, and samples it. */
async function checkKilled(kind: Kind, datadir: string, before: Range, random: () => number, tally: Tally): Promise<Range> {
  // a kill before the first transaction leaves no tables
  if (!existsSync(join(datadir, 'proofs', 'data.mdb'))) return before
  const after = await verify(kind.name, datadir, random, sampled, tally)
  must(kind.isForward(before, after), `${kind.name}: went from ${JSON.stringify(before)} to ${JSON.stringify(after)}`)
  return after
}

/**
 * Verifies whole work over its window, and compares it with what a process records that is not killed. Then does the same with all blocks, which a process
 * adds to the work that was killed.
 */
async function checkWhole(kind: Kind, datadir: string, random: () => number, tally: Tally): Promise<void> {
  await kind.settle(datadir)
  const window = await verify(kind.name, datadir, random, 'all', tally)
  must(JSON.stringify(window) === JSON.stringify(kind.expected), `${kind.name}: ended with ${JSON.stringify(window)}`)
  const [own, anew] = [join(datadir, 'proofs'), await madeAnew(datadir)]
  const differ = `${kind.name}: the rows differ from those of a work that was not killed`
  must((await digestOf(own)) === (await digestOf(anew, kind.expected)), differ)
  await completeProofs(datadir)
  const { earliest, latest } = await verify(kind.name, datadir, random, 'all', tally)
  must(earliest === 0 && latest === chainBlocks, `${kind.name}: was completed to ${earliest} to ${latest}`)
  must((await digestOf(own)) === (await digestOf(anew)), differ)
  tally.finished++
}

function count(tally: Tally, { openMs, openCpuMs, wasInside, unwound }: Work, isKilled: boolean): void {
  if (isKilled) tally.kills++
  if (wasInside) tally.inside++
  if (isKilled && openMs === undefined) tally.atStart++
  tally.unwound += unwound
  tally.slowestStartMs = Math.max(tally.slowestStartMs, openMs ?? 0)
  tally.mostStartCpuMs = Math.max(tally.mostStartCpuMs, openCpuMs ?? 0)
}

/** Returns the time of the next kill. Half of them are in a transaction, at a row or at its end. */
function nextAim({ transactions, rows, maxMs, startMs }: Kind, random: () => number): Aim {
  const part = transactions > 0 ? random() : 0.6 + 0.4 * random()
  const [transaction, row] = [Math.floor(random() * transactions), Math.floor(random() * rows)]
  if (part < 0.4) return { transaction, row }
  if (part < 0.6) return { atBegin: transaction }
  return part < 0.7 ? { afterStartMs: random() * startMs } : { afterOpenMs: random() * maxMs }
}

function report(name: string, wanted: number, tally: Tally): void {
  const { kills, inside, atStart, finished, verifiedBlocks, unwound, slowestStartMs, mostStartCpuMs } = tally
  const text = `${name}: ${kills}/${wanted} kills, ${inside} in a transaction, ${atStart} before the first work, ${finished} finished, ${verifiedBlocks} blocks verified, ${unwound} unwound, slowest start ${slowestStartMs} ms (${mostStartCpuMs} ms of processor time)`
  process.stderr.write(`\r${text} `)
}

/** Kills the work until the number is reached. After each kill the work continues to its end; the next round begins with a fresh copy of the template. */
export async function torment(kind: Kind, folder: string, random: () => number, wanted: number): Promise<Tally> {
  const tally: Tally = { kills: 0, inside: 0, atStart: 0, finished: 0, verifiedBlocks: 0, unwound: 0, slowestStartMs: 0, mostStartCpuMs: 0 }
  const template = join(folder, `${kind.name}-template`)
  await kind.make(template)
  for (let round = 0; tally.kills < wanted || tally.finished === 0; round++) {
    const datadir = join(folder, `${kind.name}-${round}`)
    cpSync(template, datadir, { recursive: true })
    let { earliest, latest }: Range = await proofsStatus({ datadir }).catch(() => ({ earliest: null, latest: null }))
    for (let isDone = false; !isDone; ) {
      const aim = tally.kills < wanted ? nextAim(kind, random) : undefined
      const run = await killedWork([kind.name, datadir, String(kind.expected.latest), String(Math.floor(random() * 2 ** 31))], aim)
      must(run.stderr === '', `${kind.name}: the process wrote ${run.stderr}`)
      isDone = run.done !== undefined
      count(tally, run, !isDone)
      if (run.done !== undefined) kind.judge(run.done)
      else ({ earliest, latest } = await checkKilled(kind, datadir, { earliest, latest }, random, tally))
      report(kind.name, wanted, tally)
    }
    await checkWhole(kind, datadir, random, tally)
    report(kind.name, wanted, tally)
    rmSync(datadir, { recursive: true, force: true })
  }
  rmSync(template, { recursive: true, force: true })
  process.stderr.write('\n')
  return tally
}

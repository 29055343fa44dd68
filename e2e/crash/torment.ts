import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFault } from '#lib/fault'
import { interruptedWork, verified } from './afterKill.ts'
import { type Aim, type Block, killedRun, type Run } from './killedRun.ts'
import { emptyTally, must, noteOpen, report, type Tally } from './tally.ts'

export type Scenario = {
  readonly name: string
  readonly args: (datadir: string) => readonly string[]
  readonly last: Block
  readonly maxMs: number
  /** first Denim block: each kill is when a block around it is shown */
  readonly boundary?: number | undefined
  /** kills between two verifications of the database; 1: each kill is followed by one */
  readonly verifyEvery: number
  /** part of the kills that follow a commit, when older states are removed and blocks are moved */
  readonly afterCommit: number
}

export type Torment = { readonly folder: string; readonly random: () => number }

/** Returns the time of the next kill; undefined: the chain is past the boundary and is left to finish. @param kills earlier ones @param head newest block shown */
function nextAim({ maxMs, boundary, afterCommit }: Scenario, random: () => number, kills: number, head = 0): Aim | undefined {
  if (boundary !== undefined) return head >= boundary ? undefined : { atBlock: boundary - 1 + Math.floor(random() * 7) }
  // every other kill is in a commit
  const isAfterCommit = kills % 2 === 1 && random() < 2 * afterCommit
  return { afterMs: random() * maxMs, inCommit: kills % 2 === 0, ...(isAfterCommit && { afterCommitMs: random() * 30 }) }
}

/** Counts the work that a kill interrupted. */
async function countInterrupted(datadir: string, tally: Tally): Promise<void> {
  const { pruning, moving } = await interruptedWork(datadir)
  if (pruning) tally.inPruning++
  if (moving) tally.inMoves++
}

/** @throws Error with the differences */
async function verify(name: string, datadir: string, tally: Tally): Promise<void> {
  try {
    const damage = await verified(datadir)
    must(damage === '', `${name}: ${damage}`)
    tally.verified++
  } catch (error) {
    // a kill before the first commit leaves no chain
    if (!isFault(error, 'DATABASE_EMPTY') && !isFault(error, 'DATABASE_MISSING')) throw error
  }
}

/** Blocks and the oldest state that earlier processes on a data directory have shown. */
type Seen = { shown: readonly Block[]; oldest: number }

/** Requires that a process has every block that earlier ones had shown, and adds its own. */
function take(name: string, run: Run, seen: Seen): void {
  const { shown, oldest } = seen
  must(run.stderr === '', `${name}: the process wrote ${run.stderr}`)
  must(run.missing.length === 0, `${name}: lost ${JSON.stringify(run.missing[0])}, which it had acknowledged`)
  const next = run.shown[0] ?? run.done
  const highest = shown.at(-1)
  must(!highest || !next || next.number >= highest.number, `${name}: went back from ${highest?.number} to ${next?.number}`)
  must((run.oldest ?? oldest) >= oldest, `${name}: the oldest state went back from ${oldest} to ${run.oldest}`)
  seen.shown = [...shown, ...run.shown].filter((block, at, all) => all.findIndex(({ hash }) => hash === block.hash) === at).slice(-50)
  seen.oldest = run.oldest ?? oldest
}

/** Kills until the number is reached; a finished chain starts again in an empty directory. */
export async function torment(scenario: Scenario, { folder, random }: Torment, wanted: number): Promise<Tally> {
  const { name, args, last, verifyEvery } = scenario
  const tally = emptyTally()
  for (let round = 0; tally.kills < wanted || tally.finished === 0; round++) {
    const datadir = join(folder, `${name}-${round}`)
    const seen: Seen = { shown: [], oldest: 0 }
    for (let isDone = false; !isDone; ) {
      const aim = tally.kills < wanted ? nextAim(scenario, random, tally.kills, seen.shown.at(-1)?.number) : undefined
      const run = await killedRun(args(datadir), aim, seen.shown)
      take(name, run, seen)
      tally.oldestState = Math.max(tally.oldestState, seen.oldest)
      noteOpen(tally, run)
      if (run.done) {
        must(run.done.hash === last.hash, `${name}: ended at ${run.done.number} ${run.done.hash}, not at ${last.number} ${last.hash}`)
        tally.finished++
        isDone = true
      } else {
        must(aim !== undefined, `${name}: ended by itself`)
        tally.kills++
        if (run.wasInCommit) tally.inCommit++
        await countInterrupted(datadir, tally)
      }
      if (isDone || tally.kills % verifyEvery === 0) await verify(name, datadir, tally)
      report(name, wanted, tally)
    }
    rmSync(datadir, { recursive: true, force: true })
  }
  process.stderr.write('\n')
  return tally
}

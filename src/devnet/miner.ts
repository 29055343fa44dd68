import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { DevnetL1 } from './ports.ts'

export type MinerDeps = {
  readonly l1: Pick<DevnetL1, 'head' | 'mine' | 'reorg' | 'genesisTimeSec' | 'slotSec'>
  readonly clock: Clock
  readonly log: Log
}

/** Has L1 mine block n when its slot comes; all that L1 does to its chain goes through here, one after the other. */
export interface Miner {
  /** Number of the head that was mined or found last. */
  readonly head: number
  /** Until aborted. An L1 that fails is asked again a second later. */
  run(signal: AbortSignal): Promise<void>
  /**
   * Replaces the last blocks, never genesis.
   * @returns how many were replaced: fewer when there are fewer
   */
  reorg(depth: number): Promise<number>
}

/** Slots that were missed (a machine that slept) are mined late, all of them: their numbers are their times. */
const retryMs = 1_000

export async function createMiner({ l1, clock, log }: MinerDeps): Promise<Miner> {
  let head = (await l1.head()).number
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = turn.then(act)
    turn = done.catch(() => {})
    return done
  }
  const dueInMs = (): number => (l1.genesisTimeSec + (head + 1) * l1.slotSec) * 1_000 - clock.nowMs()

  async function mineNext(): Promise<void> {
    await l1.mine()
    head++
  }

  /** Where L1 is after a failure nobody knows but L1. */
  async function lookAgain(signal: AbortSignal, error: unknown): Promise<void> {
    if (signal.aborted) return
    log.warn('L1 does not mine', { error })
    await clock.delay(retryMs, signal)
    head = (await l1.head()).number
  }

  return {
    get head(): number {
      return head
    },
    async run(signal): Promise<void> {
      while (!signal.aborted) {
        const waitMs = dueInMs()
        if (waitMs > 0) await clock.delay(waitMs, signal).catch(() => {})
        // the wall clock may have gone back while we waited
        else await inTurn(mineNext).catch((error: unknown) => inTurn(() => lookAgain(signal, error)).catch(() => {}))
      }
    },
    reorg: (depth) =>
      inTurn(async () => {
        const blocks = Math.min(depth, head)
        if (blocks > 0) await l1.reorg(blocks)
        return blocks
      }),
  }
}

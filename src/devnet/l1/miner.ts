import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { DevnetL1 } from '../ports.ts'

/** Makes L1 keep its slots: block n at `genesisTimeSec + n × slotSec` by the clock. */
export interface L1Miner {
  /**
   * Mines until the signal is aborted. Slots that were missed (a machine that slept) are mined one after the other, some hundred blocks a
   * second, until the head is at its time again: each slot has its block.
   * @throws Fault of the L1 that no other try will mend (DEVNET_L1_ENDED)
   */
  run(signal: AbortSignal): Promise<void>
}

/** Blocks that are caught up on before others get a breath. */
const burstBlocks = 16
const breathMs = 50
const againMs = 1_000
/** The wall clock may be set: how long to trust it. */
const longestWaitMs = 10_000

export function createL1Miner({ clock, log }: { readonly clock: Clock; readonly log: Log }, l1: DevnetL1): L1Miner {
  /** How long until the next block is due; negative: it is late. */
  async function untilDueMs(): Promise<number> {
    const { number } = await l1.head()
    return (l1.genesisTimeSec + (number + 1) * l1.slotSec) * 1_000 - clock.nowMs()
  }

  /** @returns how long to rest */
  async function step(burst: { blocks: number }): Promise<number> {
    const dueMs = await untilDueMs()
    if (dueMs > 0) {
      burst.blocks = 0
      return Math.min(dueMs, longestWaitMs)
    }
    await l1.mine()
    burst.blocks = (burst.blocks + 1) % burstBlocks
    return burst.blocks === 0 ? breathMs : 0
  }

  async function stepOrRetry(burst: { blocks: number }): Promise<number> {
    try {
      return await step(burst)
    } catch (error) {
      if (!isFault(error) || error.severity !== 'retry') throw error
      log.warn('the L1 of the devnet did not mine: it is asked again', { error })
      return againMs
    }
  }

  return {
    async run(signal): Promise<void> {
      const burst = { blocks: 0 }
      while (!signal.aborted) {
        const ms = await stepOrRetry(burst)
        if (ms > 0) await clock.delay(ms, signal).catch(() => {})
      }
    },
  }
}

import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { DevnetL1 } from '../ports.ts'

/** Number of blocks mined in one burst before other tasks run. */
const burstBlocks = 16
const breathMs = 50
const againMs = 1_000
/** Maximum wait, because the wall clock may be set. */
const longestWaitMs = 10_000

/**
 * Mines L1 blocks on time until the signal is aborted: block n at `genesisTimeSec + n × slotSec` by the clock. After missed slots (a suspended
 * machine), it mines a block for each missed slot, some hundred blocks a second, until the head is on time.
 * @throws Fault of the L1 that a retry cannot help (DEVNET_L1_ENDED)
 */
export async function mineOnTime(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  l1: DevnetL1,
  signal: AbortSignal,
): Promise<void> {
  /** Returns the time until the next block is due; negative when it is late. */
  async function untilDueMs(): Promise<number> {
    const { number } = await l1.head()
    return (l1.genesisTimeSec + (number + 1) * l1.slotSec) * 1_000 - clock.nowMs()
  }

  /** Mines the next block if it is due. @returns the time to wait */
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
      log.warn('L1 of the devnet failed to mine, retrying', { error })
      return againMs
    }
  }

  const burst = { blocks: 0 }
  while (!signal.aborted) {
    const ms = await stepOrRetry(burst)
    if (ms > 0) await clock.delay(ms, signal).catch(() => {})
  }
}

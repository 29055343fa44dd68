import type { EngineHttp } from '#engine/engineHttp'
import type { Clock } from '#lib/clock'
import type { AncestorSource } from '#types/ancestorSource'

/** Interval between two calls, time without a new block until the source ends, and time until it is used again. */
const [askMs, giveUpMs, pauseMs] = [500, 10_000, 60_000]

/**
 * Creates a source that makes an execution half in another process fetch ancestors: it names a block as the head until the half has them. Used with Basalt only:
 * other clients without peers can stop executing until they are synced to that head.
 */
export function createRemoteAncestors(engine: Pick<EngineHttp, 'clientName' | 'nameHead' | 'heads'>, clock: Clock): AncestorSource {
  let pausedUntilMs = 0
  const pause = (): void => {
    pausedUntilMs = clock.elapsedMs() + pauseMs
  }
  return {
    get count(): number {
      return clock.elapsedMs() < pausedUntilMs ? 0 : 1
    },
    // biome-ignore lint/correctness/useYield: the execution half executes the blocks itself
    async *ancestors(block, floor, _lowest, signal): AsyncGenerator<never, void, void> {
      if ((await engine.clientName()) !== 'basalt') return pause()
      let [head, sinceMs] = [floor, clock.elapsedMs()]
      while (!(await engine.nameHead(block))) {
        if (clock.elapsedMs() - sinceMs >= giveUpMs) return pause()
        await clock.delay(askMs, signal)
        const { number } = (await engine.heads()).unsafe
        if (number > head) [head, sinceMs] = [number, clock.elapsedMs()]
      }
    },
  }
}

import type { Clock } from '#lib/clock'
import type { Node } from '#node/node'
import type { LiveLine } from './output.ts'
import { count } from './textLayout.ts'

const everyMs = 500

/** Input of a progress line: positions, targets, and the gas executed since the start. */
export type Sample = {
  readonly timeMs: number
  readonly l1Block: number
  readonly l1Target: number
  readonly l2Block: number
  readonly l2Target: number
  /** of all blocks executed so far */
  readonly gas: bigint
}

/** Formats a time left. */
export const duration = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}

/** Formats a progress line from the rate between two samples: `L1 66/92  L2 120/171  350 blocks/s  12.3 Mgas/s  1 s left`. Pure. */
export function progressText(from: Sample, to: Sample): string {
  const seconds = Math.max(0.001, (to.timeMs - from.timeMs) / 1000)
  const pace = (to.l2Block - from.l2Block) / seconds
  const megagas = Number((to.gas - from.gas) / 1_000n) / 1_000 / seconds
  const left = Math.max(0, to.l2Target - to.l2Block)
  const isFollowing = to.l1Target > 0 && (left === 0 || to.l1Block >= to.l1Target)
  const end = isFollowing ? 'following' : pace > 0 ? `${duration(left / pace)} left` : 'waiting'
  const place = `L1 ${count(to.l1Block)}/${count(to.l1Target)}  L2 ${count(to.l2Block)}/${count(to.l2Target)}`
  return `${place}  ${count(pace)} blocks/s  ${megagas.toFixed(1)} Mgas/s  ${end}`
}

function sampleOf(clock: Clock, node: Pick<Node, 'progress' | 'executedGas'>): Sample {
  const { l1Block = 0, l1Target = 0, l2Block = 0, l2Target = 0 } = node.progress()
  return { timeMs: clock.nowMs(), l1Block, l1Target, l2Block, l2Target: Math.max(l2Block, l2Target), gas: node.executedGas() }
}

/** Updates the live line, with the rate of the last ten seconds, until disposed. */
export function showProgress(clock: Clock, line: LiveLine, node: Pick<Node, 'progress' | 'executedGas'>): Disposable {
  const samples: Sample[] = [sampleOf(clock, node)]
  let timer: Disposable | undefined
  const tick = (): void => {
    const now = sampleOf(clock, node)
    while (samples.length > 1 && now.timeMs - (samples[0]?.timeMs ?? 0) > 10_000) samples.shift()
    line.show(progressText(samples[0] ?? now, now))
    samples.push(now)
    timer = clock.after(everyMs, tick)
  }
  timer = clock.after(everyMs, tick)
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}

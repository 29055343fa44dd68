import type { InterruptCheck } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { RunTimer } from '#rpc/callPorts'

/** Thrown by the interrupt check of a message when there is no time left. */
export class OutOfTime extends Error {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`no time left of ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/**
 * Approximate maximum time of a piece of work, in ns per gas: a KECCAK256 of a page or the slowest MODEXP takes 30 on a machine with two shared
 * cores. When a piece of a request takes longer, its later pieces are estimated with that time.
 */
const slowNsPerGas = 30
/** Minimum gas of a piece whose time is used for the estimate. */
const tellingGas = 100_000
/** A piece may end this many milliseconds after the time-out. */
const graceMs = 10

/**
 * Creates the timer for all messages of one request; the time starts now. A piece of work (up to a megagas in the interpreter, or a whole precompile)
 * cannot be interrupted, so a piece that would probably end more than ten milliseconds late is not begun.
 * @param timeoutMs 0: no limit
 * @returns a function that creates the interrupt check of a message, which throws OutOfTime
 */
export function createCallTimer(clock: Pick<Clock, 'elapsedMs'>, timeoutMs: number): RunTimer {
  if (timeoutMs === 0) return () => () => {}
  const deadlineMs = clock.elapsedMs() + timeoutMs
  let nsPerGas = slowNsPerGas
  return (): InterruptCheck => {
    let before = { ms: 0, gas: 0 }
    return (pieceGas) => {
      const ms = clock.elapsedMs()
      if (before.gas >= tellingGas) nsPerGas = Math.max(nsPerGas, ((ms - before.ms) * 1e6) / before.gas)
      if (pieceGas > 0) before = { ms, gas: pieceGas }
      if (ms >= deadlineMs || ms + (pieceGas * nsPerGas) / 1e6 > deadlineMs + graceMs) throw new OutOfTime(timeoutMs)
    }
  }
}

import type { InterruptCheck } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { RunTimer } from '#rpc/callPorts'

/** Thrown out of a message for which there is no time left. */
export class OutOfTime extends Error {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`no time left of ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/**
 * What a piece of work takes at most, about, in ns per gas: a KECCAK256 of a page or a MODEXP of the worst shape comes to 30 on a machine of two
 * shared cores. A request in which a piece took longer counts with that from then on.
 */
const slowNsPerGas = 30
/** Smaller pieces say little about the time of a gas. */
const tellingGas = 100_000
/** A piece may end so much after the time-out. */
const graceMs = 10

/**
 * The time for all messages of one request, from now on. Pieces (up to a megagas in the interpreter, or a whole precompile) cannot be interrupted,
 * so one that would probably end more than ten milliseconds late is not begun.
 * @param timeoutMs 0: as much as they want
 * @returns what gives each message its pace, which throws OutOfTime
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

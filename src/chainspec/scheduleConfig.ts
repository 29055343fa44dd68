import { chainFault } from './faults.ts'
import { type Fork, type ForkSchedule, forks } from './forks.ts'

/** Forks up to this one imply all those before them. */
const lastCascading = forks.indexOf('jovian')

/**
 * A schedule from configured times, `null` or nothing for a fork that is not planned. An earlier fork that is missing is active with the next
 * later one (cascade, up to Jovian) and is named in the warnings.
 * @param keyOf the file's key for a fork
 * @throws Fault INVALID_CONFIG (fatal) when a fork precedes an earlier one, or Azul is there and Jovian, which it builds on, is not
 */
export function scheduleOf(
  times: Readonly<Partial<Record<Fork, number | null | undefined>>>,
  what: string,
  keyOf: (fork: Fork) => string,
): { readonly schedule: ForkSchedule; readonly warnings: readonly string[] } {
  const schedule: Partial<Record<Fork, number>> = { bedrock: 0 }
  const warnings: string[] = []
  let later: { fork: Fork; time: number } | undefined
  for (const fork of forks.slice(1).reverse()) {
    const time = times[fork] ?? undefined
    const cascades = forks.indexOf(fork) < lastCascading && later !== undefined && forks.indexOf(later.fork) <= lastCascading
    if (time === undefined) {
      if (!cascades || later === undefined) continue
      schedule[fork] = later.time
      warnings.push(`${what}: ${keyOf(fork)} is missing; ${keyOf(later.fork)} = ${later.time} implies it`)
      continue
    }
    if (later !== undefined && time > later.time) {
      const expected = `at most ${later.time}, the time of ${keyOf(later.fork)}`
      throw chainFault('INVALID_CONFIG', { what, key: keyOf(fork), expected, found: String(time) })
    }
    schedule[fork] = time
    later = { fork, time }
  }
  const { azul, jovian } = schedule
  if (azul !== undefined && jovian === undefined) {
    const expected = `a time, at most ${azul}: ${keyOf('azul')} builds on it`
    throw chainFault('INVALID_CONFIG', { what, key: keyOf('jovian'), expected, found: 'missing' })
  }
  return { schedule, warnings }
}

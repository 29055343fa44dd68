import { chainFault } from './faults.ts'
import { type Fork, type ForkSchedule, forks } from './forks.ts'

/** Index of Jovian. Each fork up to it implies all earlier forks. */
const lastCascading = forks.indexOf('jovian')

/**
 * Builds a schedule from configured times; `null` or absent means not scheduled. A missing earlier fork activates together with the next later one
 * (cascade, up to Jovian), and the warnings name it.
 * @param keyOf the file's key for a fork
 * @throws Fault INVALID_CONFIG (fatal) when a fork precedes an earlier one, or Azul is scheduled without Jovian
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
    const expected = `a time, at most ${azul}, because ${keyOf('azul')} requires this fork`
    throw chainFault('INVALID_CONFIG', { what, key: keyOf('jovian'), expected, found: 'missing' })
  }
  return { schedule, warnings }
}

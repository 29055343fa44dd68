import { type Fork, forks } from '#chainspec/forks'
import { devnetFault } from './faults.ts'

export type DevnetFork = Exclude<Fork, 'bedrock' | 'regolith'>

/** Forks that a devnet may activate after genesis, in order. Earlier forks are active at genesis. */
export const devnetForks: readonly DevnetFork[] = forks.filter((fork) => fork !== 'bedrock' && fork !== 'regolith')

/** Activation of each fork in seconds after genesis; an absent fork is not planned. */
export type ForkOffsets = Readonly<Partial<Record<DevnetFork, number>>>

/** Returns whether a fork is active from the first block on. */
export function beginsWith(
  { forks, blockTimeSec }: { readonly forks: ForkOffsets; readonly blockTimeSec: number },
  fork: DevnetFork,
): boolean {
  const offsetSec = forks[fork]
  return offsetSec !== undefined && offsetSec <= blockTimeSec
}

/** Forks without upgrade transactions, which genesis may activate. */
const atGenesis: readonly Fork[] = ['canyon', 'delta']
/** Upper limit of an activation, about 30 years; larger values are a wrong unit. */
const maxOffsetSec = 1_000_000_000

/**
 * Returns Canyon and Delta at genesis, and the forks after them up to this one at block 1, so that it has their upgrade transactions. Later forks are
 * absent.
 * @throws Fault UNKNOWN_FORK (fatal)
 */
export function forksUpTo(name: string, blockTimeSec: number): ForkOffsets {
  const last = (devnetForks as readonly string[]).indexOf(name)
  if (last < 0) throw devnetFault('UNKNOWN_FORK', { fork: name, known: devnetForks })
  const count = Math.max(last + 1, atGenesis.length)
  return Object.fromEntries(devnetForks.slice(0, count).map((fork) => [fork, atGenesis.includes(fork) ? 0 : blockTimeSec]))
}

function offsetOf(fork: DevnetFork, found: unknown): number {
  const least = atGenesis.includes(fork) ? 0 : 1
  if (typeof found === 'number' && Number.isInteger(found) && found >= least && found <= maxOffsetSec) return found
  const expected = `a whole number of seconds from ${least} on${least === 1 ? ': genesis has no upgrade transactions' : ''}`
  throw devnetFault('BAD_FORK_SCHEDULE', { fork, found: String(JSON.stringify(found)).slice(0, 80), expected })
}

/**
 * Parses a custom schedule: seconds after genesis by fork. Canyon and Delta default to genesis; any other absent fork activates with the next fork
 * that is present.
 * @throws Fault BAD_FORK_SCHEDULE, UNKNOWN_FORK (fatal)
 */
export function parseForkOffsets(json: unknown): ForkOffsets {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw devnetFault('BAD_FORK_SCHEDULE', { fork: 'no fork', found: 'another value', expected: 'an object of seconds by fork' })
  }
  for (const name of Object.keys(json)) {
    if (!(devnetForks as readonly string[]).includes(name))
      throw devnetFault('UNKNOWN_FORK', { fork: name.slice(0, 80), known: devnetForks })
  }
  const given: Readonly<Record<string, unknown>> = { canyon: 0, delta: 0, ...json }
  const offsets: Partial<Record<DevnetFork, number>> = {}
  let next: number | undefined
  for (const fork of [...devnetForks].reverse()) {
    const found = given[fork] === undefined ? next : offsetOf(fork, given[fork])
    if (found === undefined) continue
    if (next !== undefined && found > next) {
      throw devnetFault('BAD_FORK_SCHEDULE', { fork, found: String(found), expected: `at most ${next}, where the next fork activates` })
    }
    offsets[fork] = found
    next = found
  }
  return Object.fromEntries(devnetForks.flatMap((fork) => (offsets[fork] === undefined ? [] : [[fork, offsets[fork]]])))
}

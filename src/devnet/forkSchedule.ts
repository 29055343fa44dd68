import { type Fork, firstUnsupportedFork, forks } from '#chainspec/forks'
import { devnetFault } from './faults.ts'

/** Forks that a devnet may begin without, in order. Those before are active at its genesis. */
export const devnetForks = [
  'canyon',
  'delta',
  'ecotone',
  'fjord',
  'granite',
  'holocene',
  'isthmus',
  'jovian',
  'azul',
] as const satisfies readonly Fork[]
export type DevnetFork = (typeof devnetForks)[number]

/** Seconds after genesis at which a fork begins; a fork without them is not planned. */
export type ForkOffsets = Readonly<Partial<Record<DevnetFork, number>>>

/** They bring no transactions with them: genesis may follow their rules. */
const atGenesis: readonly Fork[] = ['canyon', 'delta']
/** A fork further away than this (some 30 years) is a slip of units. */
const maxOffsetSec = 1_000_000_000

function refuseLater(name: string): void {
  const later = forks.slice(forks.indexOf(firstUnsupportedFork))
  if ((later as readonly string[]).includes(name)) {
    throw devnetFault('OPTION_UNSUPPORTED_HERE', { option: `the fork ${name}`, why: 'this version does not have its rules' })
  }
}

/**
 * Canyon and Delta from genesis on, the forks after them up to this one from block 1 on, so that it has their upgrade transactions; none later.
 * @throws Fault UNKNOWN_FORK, OPTION_UNSUPPORTED_HERE (fatal)
 */
export function forksUpTo(name: string, blockTimeSec: number): ForkOffsets {
  refuseLater(name)
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
 * A schedule of one's own: seconds after genesis by fork. Canyon and Delta begin at genesis when they are left out; another fork that is left out
 * begins with the next one that is there.
 * @throws Fault BAD_FORK_SCHEDULE, UNKNOWN_FORK, OPTION_UNSUPPORTED_HERE (fatal)
 */
export function parseForkOffsets(json: unknown): ForkOffsets {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw devnetFault('BAD_FORK_SCHEDULE', { fork: 'no fork', found: 'its place', expected: 'an object of seconds by fork' })
  }
  for (const name of Object.keys(json)) {
    refuseLater(name)
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
      throw devnetFault('BAD_FORK_SCHEDULE', { fork, found: String(found), expected: `at most ${next}, where the fork after it begins` })
    }
    offsets[fork] = found
    next = found
  }
  return Object.fromEntries(devnetForks.flatMap((fork) => (offsets[fork] === undefined ? [] : [[fork, offsets[fork]]])))
}

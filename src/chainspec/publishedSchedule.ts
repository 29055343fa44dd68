import { bigintFromBytes, u32At } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { RollupConfig } from './rollupConfig.ts'
import type { PlannedFork } from './unsupportedFork.ts'

/** Forks that this version knows, by their id in the ProtocolVersions contract. Id 0 is the genesis, which has Regolith. */
export const publishedForks = [
  'regolith',
  'canyon',
  'delta',
  'ecotone',
  'fjord',
  'granite',
  'holocene',
  'pectraBlobSchedule',
  'isthmus',
  'jovian',
  'azul',
  'beryl',
  'cobalt',
  'denim',
] as const
export type PublishedFork = (typeof publishedForks)[number]

/** Content of the ProtocolVersions contract on L1. */
export type PublishedSchedule = {
  /** activation times in seconds by id; 0: not scheduled */
  readonly times: readonly number[]
  /** oldest version of the protocol that can follow the chain; absent: not published */
  readonly minimum?: ProtocolVersion
}

export type ProtocolVersion = { readonly major: number; readonly minor: number; readonly patch: number; readonly preRelease: number }

/** Version of Base's protocol with the last built-in fork. Patches change no rule of a block. */
const knownVersion = { major: 1, minor: 5 }

const maxForks = 256
const word = 32

/** Selectors of the contract's methods. */
export const scheduleCalls = { getSchedule: '0x26fadbe2', minimumProtocolVersion: '0x5c4d37d2' } as const

/** Returns the bytes of a hex value of at most `maxBytes`; undefined: it is none. */
function boundedBytes(value: unknown, maxBytes: number): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-f]{2})*$/i.test(value)) return undefined
  return fromHex(value)
}

/** Reads an ABI word as an integer of 64 bits; undefined: it is larger. A time above the safe integers is the largest of them: it never comes. */
function u64In(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.subarray(at, at + 24).some((byte) => byte !== 0)) return undefined
  const value = bigintFromBytes(bytes.subarray(at + 24, at + word))
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value)
}

/**
 * Decodes the result of `getSchedule()`, ABI type uint64[], of at most 256 forks.
 * @returns the times by id, an empty list for a contract without the method or without forks; undefined for a malformed result
 */
export function decodeSchedule(result: unknown): readonly number[] | undefined {
  const bytes = boundedBytes(result, (2 + maxForks) * word)
  if (bytes === undefined) return undefined
  if (bytes.length === 0) return []
  if (bytes.length < 2 * word || u64In(bytes, 0) !== word) return undefined
  const count = u64In(bytes, word)
  if (count === undefined || count > maxForks || bytes.length !== (2 + count) * word) return undefined
  const times: number[] = []
  for (let id = 0; id < count; id++) {
    const time = u64In(bytes, (2 + id) * word)
    if (time === undefined) return undefined
    times.push(time)
  }
  return times
}

/**
 * Decodes the result of `minimumProtocolVersion()`, whose low 16 bytes are four integers of 32 bits.
 * @returns undefined when none is published, or for a malformed result
 */
export function decodeProtocolVersion(result: unknown): ProtocolVersion | undefined {
  const bytes = boundedBytes(result, word)
  if (bytes?.length !== word || bytes.subarray(16).every((byte) => byte === 0)) return undefined
  return { major: u32At(bytes, 16), minor: u32At(bytes, 20), patch: u32At(bytes, 24), preRelease: u32At(bytes, 28) }
}

/** Returns whether a protocol version needs forks after the last built-in one. */
export function isAboveKnown({ major, minor }: ProtocolVersion): boolean {
  return major === knownVersion.major ? minor > knownVersion.minor : major > knownVersion.major
}

/** Formats a protocol version; patch and pre-release included. */
export const versionText = ({ major, minor, patch, preRelease }: ProtocolVersion): string =>
  `${major}.${minor}.${patch}${preRelease === 0 ? '' : `-${preRelease}`}`

/** Activation times of a fork in seconds, where they differ; absent: not scheduled. */
export type ForkDifference = { readonly fork: PublishedFork; readonly builtInSec?: number; readonly publishedSec?: number }

/** Returns the built-in activation time of a fork in seconds; undefined: not scheduled. */
export function builtInTime({ schedule, pectraBlobScheduleTimeSec }: ForkTimes, fork: PublishedFork): number | undefined {
  return fork === 'pectraBlobSchedule' ? pectraBlobScheduleTimeSec : schedule[fork]
}

export type ForkTimes = Pick<RollupConfig, 'schedule' | 'pectraBlobScheduleTimeSec' | 'genesis'>

/**
 * Returns the forks with another published time than the built-in one. A fork that genesis has agrees with any published time up to genesis, and with 0.
 * @param times by id; empty: nothing is published, so nothing differs
 */
export function forkDifferences(config: ForkTimes, times: readonly number[]): readonly ForkDifference[] {
  if (times.length === 0) return []
  const genesisSec = config.genesis.l2TimeSec
  return publishedForks.flatMap((fork, id): ForkDifference[] => {
    const [builtInSec, publishedSec] = [builtInTime(config, fork), times[id] || undefined]
    const isInGenesis = builtInSec !== undefined && builtInSec <= genesisSec
    if (isInGenesis ? (publishedSec ?? 0) <= genesisSec : builtInSec === publishedSec) return []
    return [{ fork, ...(builtInSec !== undefined && { builtInSec }), ...(publishedSec !== undefined && { publishedSec }) }]
  })
}

/** Returns the earliest time at which rules differ, in seconds. */
export function differsFrom({ builtInSec, publishedSec }: ForkDifference): number {
  return Math.min(builtInSec ?? Number.POSITIVE_INFINITY, publishedSec ?? Number.POSITIVE_INFINITY)
}

/** Returns the earliest published fork that this version does not know; undefined when there is none. */
export function nextUnknownFork(times: readonly number[]): PlannedFork | undefined {
  let next: PlannedFork | undefined
  for (const [id, activationSec] of times.entries()) {
    if (id < publishedForks.length || activationSec === 0 || (next && next.activationSec <= activationSec)) continue
    next = { fork: `${id} of the schedule on L1`, activationSec }
  }
  return next
}

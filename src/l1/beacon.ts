import type { Endpoint } from '#lib/endpoint'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import { BlobError, type Blobs, blobsByCommitment, blobsByProof } from './beaconBlobs.ts'
import type { BlobChecks } from './blobChecks.ts'
import type { Budget } from './budget.ts'
import type { Failover } from './failover.ts'
import { l1Fault } from './faults.ts'
import { type HttpAnswer, type HttpDeps, type HttpLimits, requestJson } from './http.ts'
import type { L1Method } from './metrics.ts'
import { outcomeOf, type Usage } from './usage.ts'

/** Blobs from beacon API endpoints, each verified against its versioned hash. */
export interface Beacon {
  /**
   * @returns all requested blobs by hash; undefined when every endpoint reports that the slot has none
   * @throws Fault BLOB_UNAVAILABLE, BLOB_MISMATCH, BLOB_UNCHECKED and those of `requestJson` (all retry); L1_NO_BEACON, L1_WRONG_BEACON (fatal)
   */
  blobs(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<Blobs | undefined>
  /**
   * Checks that every endpoint serves the beacon chain of this L1 block. Endpoints that serve another chain are excluded. Endpoints that do not
   * respond are checked when they are used.
   * @throws Fault L1_WRONG_BEACON (fatal) when all endpoints are excluded
   */
  agree(block: L1Ref, signal: AbortSignal): Promise<void>
}

export type BeaconDeps = HttpDeps & {
  readonly failover: Failover
  readonly checks: BlobChecks
  readonly usage: Usage
  readonly budgetOf: (endpoint: Endpoint) => Budget
}

/** Request for blobs of one slot. */
type Wanted = { readonly slot: number; readonly hashes: ReadonlySet<Hash> }
/**
 * 'absent': the endpoint has no blobs of the slot; 'unsupported': it does not have the method; 'refused': it cannot decide (columns are missing, the
 * path is gone)
 */
type NoList = 'absent' | 'unsupported' | 'refused'
type Answer = Blobs | NoList
/** Method that returns blobs: with proofs (3 ms to check), or without (45 ms). */
type Way = Extract<L1Method, 'blob_sidecars' | 'blobs'>

type Timing = { readonly genesisSec: number; readonly slotSec: number }

/** Returns a positive integer that the API writes as a string. */
function decimal(json: Json, key: string): number {
  const value = Number(json[key])
  if (typeof json[key] !== 'string' || !Number.isSafeInteger(value) || value <= 0) throw new ShapeError(`${key} is not a positive integer`)
  return value
}

const dataOf = (json: unknown): unknown => objectOf(json, 'answer')['data']

const hasAll = (answer: Answer, { hashes }: Wanted): answer is Blobs =>
  typeof answer !== 'string' && [...hashes].every((hash) => answer.has(hash))

/** Returns the list in a response. ShapeError when it has none. */
function listIn({ status, json }: HttpAnswer): readonly unknown[] | NoList {
  if (status === 404) return 'absent'
  if (status === 405) return 'unsupported'
  if (status >= 400) return 'refused'
  if (status !== 200) throw new ShapeError(`HTTP ${status}`)
  return listOf(dataOf(json), 'data')
}

/**
 * Returns whether the endpoint knows that the slot has no blobs: one method answers 'absent', the other 'absent' or 'unsupported'. 'refused' does
 * not prove it: an endpoint without all columns also refuses blobs that others have.
 */
const isAbsent = (answers: readonly Answer[]): boolean =>
  answers.includes('absent') && answers.every((answer) => answer === 'absent' || answer === 'unsupported')

/** Returns the slot of a timestamp. @see consensus specs, compute_time_at_slot */
function slotAt({ genesisSec, slotSec }: Timing, timestamp: number): number {
  return Math.floor((timestamp - genesisSec) / slotSec)
}

export function createBeacon(deps: BeaconDeps, limits: HttpLimits & { readonly chainId: number; readonly slotSec?: number }): Beacon {
  const { failover, checks, usage, budgetOf } = deps
  /** Slot timing of each endpoint, used for that endpoint only. */
  const timings = new Map<Endpoint, Timing>()
  /** Method by which each endpoint last returned all blobs. */
  const ways = new Map<Endpoint, Way>()

  async function get(endpoint: Endpoint, method: L1Method, path: string, asked: string, signal: AbortSignal): Promise<HttpAnswer> {
    await budgetOf(endpoint).take(1, signal)
    try {
      const answer = await requestJson(deps, limits, endpoint, { path, asked }, signal)
      usage.count('beacon', method, 'ok')
      return answer
    } catch (error) {
      usage.count('beacon', method, outcomeOf(error) ?? 'unreachable')
      throw error
    }
  }

  async function readTiming(endpoint: Endpoint, signal: AbortSignal): Promise<Timing> {
    const genesis = await get(endpoint, 'genesis', '/eth/v1/beacon/genesis', 'genesis', signal)
    const answer = await get(endpoint, 'spec', '/eth/v1/config/spec', 'config', signal)
    const genesisSec = decimal(objectOf(dataOf(genesis.json), 'genesis'), 'genesis_time')
    if (answer.status === 404 && limits.slotSec !== undefined) return { genesisSec, slotSec: limits.slotSec }
    const spec = objectOf(dataOf(answer.json), 'spec')
    const chain = spec['DEPOSIT_CHAIN_ID']
    if (typeof chain === 'string' && Number(chain) !== limits.chainId) {
      const found = String(Number(chain))
      throw l1Fault('L1_WRONG_BEACON', { endpoint: endpoint.name, what: 'chain id', expected: String(limits.chainId), found })
    }
    return { genesisSec, slotSec: decimal(spec, 'SECONDS_PER_SLOT') }
  }

  /** Returns the slot timing of an endpoint, after a check that an L1 block fits a slot. */
  async function timingOf(endpoint: Endpoint, timestamp: number, signal: AbortSignal): Promise<Timing> {
    const known = timings.get(endpoint)
    if (known !== undefined) return known
    const timing = await readTiming(endpoint, signal)
    const sinceSec = timestamp - timing.genesisSec
    if (sinceSec < 0 || sinceSec % timing.slotSec !== 0) {
      const found = `genesis at ${timing.genesisSec}, slots of ${timing.slotSec} s`
      throw l1Fault('L1_WRONG_BEACON', {
        endpoint: endpoint.name,
        what: 'time',
        expected: `slots that include a block at ${timestamp}`,
        found,
      })
    }
    timings.set(endpoint, timing)
    return timing
  }

  async function by(way: Way, endpoint: Endpoint, wanted: Wanted, signal: AbortSignal): Promise<Answer> {
    if (way === 'blob_sidecars') return asked(way, endpoint, wanted, '', signal)
    const query = [...wanted.hashes].map((hash) => `versioned_hashes=${hash}`).join('&')
    const answer = await asked(way, endpoint, wanted, `?${query}`, signal)
    // anvil filters by one hash only, so this requests all blobs of the slot
    const isPart = typeof answer !== 'string' && answer.size > 0 && answer.size < wanted.hashes.size
    return isPart ? asked(way, endpoint, wanted, '', signal) : answer
  }

  async function asked(way: Way, endpoint: Endpoint, { slot, hashes }: Wanted, query: string, signal: AbortSignal): Promise<Answer> {
    const list = listIn(await get(endpoint, way, `/eth/v1/beacon/${way}/${slot}${query}`, `${way} of slot ${slot}`, signal))
    if (typeof list === 'string') return list
    return way === 'blobs' ? blobsByCommitment(checks, list, hashes) : blobsByProof(checks, list, hashes)
  }

  /**
   * Requests blobs with proofs first, unless the endpoint last returned all blobs without: newer clients have no sidecars; older clients and archives
   * have sidecars only.
   */
  async function fromEndpoint(endpoint: Endpoint, wanted: Wanted, signal: AbortSignal): Promise<Blobs | undefined> {
    const first = ways.get(endpoint) ?? 'blob_sidecars'
    const answers: Answer[] = []
    for (const way of [first, first === 'blobs' ? 'blob_sidecars' : 'blobs'] as const) {
      const answer = await by(way, endpoint, wanted, signal)
      if (hasAll(answer, wanted)) {
        ways.set(endpoint, way)
        return answer
      }
      answers.push(answer)
    }
    if (isAbsent(answers)) return undefined
    const has = (hash: Hash): boolean => answers.some((answer) => typeof answer !== 'string' && answer.has(hash))
    const missing = [...wanted.hashes].filter((hash) => !has(hash)).length
    throw l1Fault('BLOB_UNAVAILABLE', { endpoint: endpoint.name, slot: wanted.slot, missing, asked: wanted.hashes.size })
  }

  /** Converts errors in an endpoint's response to a Fault that names the endpoint. */
  async function blaming<T>(endpoint: Endpoint, slot: () => number, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (error instanceof BlobError) throw l1Fault('BLOB_MISMATCH', { endpoint: endpoint.name, slot: slot(), reason: error.message })
      if (!(error instanceof ShapeError)) throw error
      throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked: `blobs of slot ${slot()}`, reason: error.message })
    }
  }

  return {
    async blobs(block, hashes, signal): Promise<Blobs | undefined> {
      if (failover.size === 0) throw l1Fault('L1_NO_BEACON', { block: block.number })
      return failover.find('blobs', signal, (endpoint, stop) => {
        let slot = -1
        return blaming(
          endpoint,
          () => slot,
          async () => {
            slot = slotAt(await timingOf(endpoint, block.timestamp, stop), block.timestamp)
            return fromEndpoint(endpoint, { slot, hashes: new Set(hashes) }, stop)
          },
        )
      })
    },
    agree: (block, signal) =>
      failover.each(signal, async (endpoint, stop) => {
        await blaming(
          endpoint,
          () => -1,
          () => timingOf(endpoint, block.timestamp, stop),
        )
      }),
  }
}

import { readBaseTime } from '#chainspec/baseTime'
import { mayFollow } from '#chainspec/blockTime'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import { type KnownGenesis, l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { BoundedMap } from '#lib/boundedMap'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import type { Hex } from '#lib/hex'
import type { Log } from '#lib/log'
import type { AncestorSource } from '#types/ancestorSource'
import type { Block } from '#types/block'
import type { L2Ref } from '#types/blockRef'
import { hashHeader } from '#types/header'
import { type Hash, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { BuildJobs, payloadIdOf } from './buildJobs.ts'
import { EngineApiError, engineApiError } from './engineApiError.ts'
import { HeadFetch } from './headFetch.ts'
import { headerOfPayload } from './payloadHeader.ts'
import { parseAttributes } from './payloadJson.ts'
import type { Engine, Heads } from './port.ts'
import {
  attributesRefusal,
  type ForkchoiceVersion,
  type GetPayloadVersion,
  getPayloadRefusal,
  type NewPayloadVersion,
  newPayloadRefusal,
} from './versions.ts'

export type PayloadStatus =
  | { readonly status: 'VALID'; readonly latestValidHash: Hash }
  /** `latestValidHash`: the parent if it is known; undefined when the block hash is wrong */
  | { readonly status: 'INVALID'; readonly latestValidHash: Hash | undefined; readonly validationError: string }
  | { readonly status: 'SYNCING' }

/** A zero hash for safe or finalized keeps the current block. */
export type ForkchoiceState = { readonly head: Hash; readonly safe: Hash; readonly finalized: Hash }
export type ForkchoiceAnswer = { readonly payloadStatus: PayloadStatus; readonly payloadId: Hex | undefined }

/** Parameters of newPayload. `payload` includes the parent beacon block root, which is a separate parameter. */
export type NewPayload = {
  readonly payload: Payload
  /** from V3 on */
  readonly blobHashes?: readonly Hash[]
  /** from V4 on */
  readonly executionRequests?: readonly Uint8Array[]
}

export type PayloadBody = Pick<Payload, 'transactions' | 'withdrawals'>

/**
 * Engine API for a consensus half in another process, over any `Engine`. Every call may fail with an EngineApiError, whose code and text are returned
 * to the caller. Calls that change state run in order of arrival.
 */
export interface EngineApi {
  /** Executes a payload on its parent. VALID means executed; SYNCING means an unknown parent; never ACCEPTED. */
  newPayload(version: NewPayloadVersion, request: NewPayload): Promise<PayloadStatus>
  /**
   * Moves the heads in one durable step, also back to an ancestor that is not below the finalized head. An older finalized block leaves that label as it
   * is. With attributes it then begins a build and responds when the attributes' transactions are executed; transactions of the pool are added until the
   * payload is requested.
   * @param attributes JSON, parsed after the heads have moved: an error in it does not undo the move
   */
  forkchoiceUpdated(version: ForkchoiceVersion, state: ForkchoiceState, attributes: unknown): Promise<ForkchoiceAnswer>
  /** Seals and returns a payload that `forkchoiceUpdated` began to build. */
  getPayload(version: GetPayloadVersion, id: Hex): Promise<Payload>
  /** Returns a known block of any branch. */
  block(hash: Hash): Promise<Block | undefined>
  /** Returns bodies in the order of the hashes; undefined: unknown block. */
  bodiesByHash(hashes: readonly Hash[]): Promise<readonly (PayloadBody | undefined)[]>
  /** Returns bodies of canonical blocks; the list ends with the chain. */
  bodiesByRange(start: number, count: number): Promise<readonly (PayloadBody | undefined)[]>
}

/** Parts of a rollup config that the Engine API uses. */
export type EngineConfig = KnownGenesis & Pick<RollupConfig, 'schedule' | 'l2ChainId'>

export type EngineApiDeps = {
  readonly engine: Engine
  readonly config: EngineConfig
  readonly clock: Clock
  /** where ancestors of a head are fetched, until `signal` is aborted; absent: they are not */
  readonly peers?: { readonly source: AncestorSource; readonly log: Log; readonly signal: AbortSignal } | undefined
  /** Called with each fatal fault of the execution half itself, which no parameter of a call can cause: a failed store, for example. */
  readonly onFailed?: (fault: Fault) => void
}

/** Maximum number of built payloads kept; consensus halves fetch theirs at once. */
const maxJobs = 32
/** Maximum number of cached block references. A forkchoice update has only hashes. */
const maxRefs = 8_192
const maxInvalid = 512
/** Limit of other clients. */
const maxBodies = 1_024

const syncing: PayloadStatus = { status: 'SYNCING' }

class LocalEngineApi implements EngineApi {
  readonly #engine: Engine
  readonly #config: EngineApiDeps['config']
  readonly #jobs: BuildJobs
  readonly #refs = new BoundedMap<Hash, L2Ref>(maxRefs)
  /** Blocks with a correct hash that are invalid; their descendants are invalid too. */
  readonly #invalid = new BoundedMap<Hash, PayloadStatus>(maxInvalid)
  readonly #fetch: HeadFetch | undefined
  readonly #onFailed: EngineApiDeps['onFailed']
  #last: Promise<unknown> = Promise.resolve()

  constructor({ engine, config, clock, peers, onFailed }: EngineApiDeps) {
    this.#engine = engine
    this.#onFailed = onFailed
    this.#jobs = new BuildJobs(maxJobs, clock)
    this.#config = config
    const inOrder: <T>(run: () => Promise<T>) => Promise<T> = (run) => this.#inOrder(run)
    const onInvalid = (head: Hash, { parentHash }: Payload, reason: string): void => this.#invalid.set(head, invalid(parentHash, reason))
    this.#fetch = peers && new HeadFetch({ engine, config, clock, ...peers, inOrder, onInvalid })
  }

  async newPayload(version: NewPayloadVersion, request: NewPayload): Promise<PayloadStatus> {
    const refusal = newPayloadRefusal(this.#config.schedule, version, request.payload)
    if (refusal) throw engineApiError(refusal.kind === 'structure' ? 'invalidParams' : 'unsupportedFork', refusal.reason)
    return this.#inOrder(() => this.#insert(request))
  }

  forkchoiceUpdated(version: ForkchoiceVersion, state: ForkchoiceState, attributes: unknown): Promise<ForkchoiceAnswer> {
    return this.#inOrder(() => this.#forkchoice(version, state, attributes ?? undefined))
  }

  async getPayload(version: GetPayloadVersion, id: Hex): Promise<Payload> {
    const job = this.#jobs.get(id)
    if (job === undefined) throw engineApiError('unknownPayload', id)
    const refusal = getPayloadRefusal(this.#config.schedule, version, job.attributes.timestamp)
    if (refusal) throw engineApiError('unsupportedFork', refusal.reason)
    job.seal()
    const result = await job.result.catch((error: unknown) => {
      throw this.#failed(error)
    })
    if (result.kind === 'invalid') throw engineApiError('unknownPayload', `${id} could not be built: ${result.reason}`)
    return result.payload
  }

  async block(hash: Hash): Promise<Block | undefined> {
    const payload = await this.#engine.payload(hash)
    return payload && { header: headerOfPayload(this.#config.schedule, payload), transactions: payload.transactions }
  }

  async bodiesByHash(hashes: readonly Hash[]): Promise<readonly (PayloadBody | undefined)[]> {
    if (hashes.length > maxBodies) throw engineApiError('tooLarge', `${hashes.length} bodies, at most ${maxBodies} allowed`)
    const bodies: (PayloadBody | undefined)[] = []
    for (const hash of hashes) bodies.push(await this.#engine.payload(hash))
    return bodies
  }

  async bodiesByRange(start: number, count: number): Promise<readonly (PayloadBody | undefined)[]> {
    if (start < 1 || count < 1) throw engineApiError('invalidParams', 'start and count must be at least 1')
    if (count > maxBodies) throw engineApiError('tooLarge', `${count} bodies, at most ${maxBodies} allowed`)
    const last = Math.min(start + count - 1, (await this.#engine.heads()).unsafe.number)
    const bodies: (PayloadBody | undefined)[] = []
    for (let number = start; number <= last; number++) bodies.push(await this.#engine.payload(number))
    return bodies
  }

  /** Runs after all earlier calls, whatever their results. */
  #inOrder<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => undefined)
    return result.catch((error: unknown) => {
      throw this.#failed(error)
    })
  }

  /** Returns the error for the caller. Reports a fault of the execution half itself. */
  #failed(error: unknown): unknown {
    const shown = errorOf(error)
    if (isFault(shown)) this.#onFailed?.(shown)
    return shown
  }

  async #insert({ payload, blobHashes = [], executionRequests = [] }: NewPayload): Promise<PayloadStatus> {
    if (blobHashes.length > 0) return invalid(undefined, 'blob hashes are not empty, but this chain has no blobs')
    if (executionRequests.length > 0) return invalid(undefined, 'execution requests are not empty, but this chain has none')
    const { blockHash, parentHash } = payload
    const result = await this.#engine.insert(payload).catch((error: unknown) => {
      if (isFault(error, 'UNKNOWN_PARENT')) return undefined
      throw error
    })
    if (result === undefined) return this.#onUnknownParent(payload)
    if (result.kind === 'valid') {
      this.#invalid.delete(blockHash)
      this.#remember(payload)
      return { status: 'VALID', latestValidHash: blockHash }
    }
    if (hashHeader(headerOfPayload(this.#config.schedule, payload)) !== blockHash) return invalid(undefined, result.reason)
    const status = invalid((await this.#engine.payload(parentHash)) && parentHash, result.reason)
    this.#invalid.set(blockHash, status)
    return status
  }

  /** Returns the status of a block with a correct hash and an unknown parent, which may be unknown because it was invalid. */
  #onUnknownParent(payload: Payload): PayloadStatus {
    const status = this.#invalid.get(payload.parentHash)
    if (status === undefined) {
      this.#fetch?.offer(payload)
      return syncing
    }
    this.#invalid.set(payload.blockHash, status)
    return status
  }

  async #forkchoice(version: ForkchoiceVersion, state: ForkchoiceState, attributes: unknown): Promise<ForkchoiceAnswer> {
    if (state.head === zeroHash) throw engineApiError('invalidForkchoice', 'the head is a zero hash')
    const refused = this.#invalid.get(state.head)
    if (refused) return { payloadStatus: refused, payloadId: undefined }
    const head = await this.#ref(state.head)
    if (head === undefined) {
      this.#fetch?.begin(state.head)
      return { payloadStatus: syncing, payloadId: undefined }
    }
    const ahead = await this.#fetch?.aheadOf(head, attributes !== undefined)
    if (!(await this.#moveTo(ahead ?? head, state))) return { payloadStatus: syncing, payloadId: undefined }
    const payloadId = attributes === undefined ? undefined : await this.#build(version, head, attributes)
    return { payloadStatus: { status: 'VALID', latestValidHash: head.hash }, payloadId }
  }

  /** @returns false when the head is no longer known */
  async #moveTo(head: L2Ref, state: ForkchoiceState): Promise<boolean> {
    const heads = await this.#headsOf(head, state)
    const fault = await this.#setHeads(heads)
    if (fault === undefined) return true
    if ((await this.#engine.payload(head.hash)) === undefined) return false
    // the request names no safe block, and the current one is not on the new branch
    const isSafeLeft = state.safe === zeroHash && fault.data['label'] === 'safe'
    if (isSafeLeft && (await this.#setHeads({ ...heads, safe: heads.finalized })) === undefined) return true
    throw engineApiError('invalidForkchoice', fault.message, fault)
  }

  /** @returns the reason why the heads are refused */
  async #setHeads(heads: Heads): Promise<Fault | undefined> {
    try {
      await this.#engine.setHeads(heads)
      return undefined
    } catch (error) {
      if (isFault(error, 'INVALID_FORKCHOICE')) return error
      throw error
    }
  }

  async #headsOf(unsafe: L2Ref, state: ForkchoiceState): Promise<Heads> {
    const named = async (label: 'safe' | 'finalized'): Promise<L2Ref> => {
      const ref = await this.#ref(state[label])
      if (ref === undefined) throw engineApiError('invalidForkchoice', `the ${label} block ${state[label]} is unknown`)
      return ref
    }
    const isKept = state.safe === zeroHash || state.finalized === zeroHash
    const before = isKept ? await this.#engine.heads() : undefined
    const finalized = state.finalized === zeroHash && before ? before.finalized : await named('finalized')
    if (state.safe !== zeroHash || !before) return { unsafe, safe: await named('safe'), finalized }
    return { unsafe, safe: before.safe.number < finalized.number ? finalized : before.safe, finalized }
  }

  async #build(version: ForkchoiceVersion, head: L2Ref, json: unknown): Promise<Hex> {
    const attributes = this.#attributesOf(version, head, json)
    const id = payloadIdOf(version, head.hash, attributes)
    const job = this.#jobs.start(id, attributes, async (seal, onForcedExecuted) => {
      const result = await this.#engine.build(head, attributes, seal, onForcedExecuted)
      if (result.kind === 'built') this.#remember(result.payload)
      return result
    })
    await job.begun
    if (this.#jobs.get(id) === job) return id
    const result = await job.result
    if (result.kind === 'invalid') throw engineApiError('invalidAttributes', result.reason)
    return id
  }

  #attributesOf(version: ForkchoiceVersion, head: L2Ref, json: unknown): PayloadAttributes {
    const attributes = parsedAttributes(json)
    const refusal = attributesRefusal(this.#config.schedule, version, attributes)
    if (refusal) throw engineApiError(refusal.kind === 'structure' ? 'invalidAttributes' : 'unsupportedFork', refusal.reason)
    const malformed = baseTimeRefusal(this.#config.schedule, attributes, head.number + 1)
    if (malformed !== undefined) throw engineApiError('invalidParams', malformed)
    if (!mayFollow(this.#config.schedule, head.timestamp, attributes.timestamp)) {
      throw engineApiError('invalidAttributes', `timestamp ${attributes.timestamp} is not after the head's ${head.timestamp}`)
    }
    return attributes
  }

  /** Returns the reference of a known block, with its L1 origin. */
  async #ref(hash: Hash): Promise<L2Ref | undefined> {
    const known = this.#refs.get(hash)
    if (known) return known
    const payload = await this.#engine.payload(hash)
    if (payload === undefined) return undefined
    const ref = this.#remember(payload)
    if (ref === undefined) throw engineApiError('invalidForkchoice', `block ${hash} does not start with L1 attributes`)
    return ref
  }

  #remember(payload: Payload): L2Ref | undefined {
    try {
      const ref = l2RefOf(this.#config, payload)
      this.#refs.set(payload.blockHash, ref)
      return ref
    } catch (error) {
      if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return undefined
      throw error
    }
  }
}

function invalid(latestValidHash: Hash | undefined, validationError: string): PayloadStatus {
  return { status: 'INVALID', latestValidHash, validationError }
}

/** Returns why the BaseTime deposit of attributes is malformed, or undefined. Whether its value follows the parent's is checked by execution. */
function baseTimeRefusal(schedule: ForkSchedule, { timestamp, transactions }: PayloadAttributes, number: number): string | undefined {
  if (!isActive(schedule, 'denim', timestamp)) return undefined
  const reading = readBaseTime(transactions, number)
  return reading.kind === 'malformed' ? reading.reason : undefined
}

function parsedAttributes(json: unknown): PayloadAttributes {
  try {
    return parseAttributes(json)
  } catch (error) {
    if (isFault(error, 'MALFORMED_PAYLOAD')) throw engineApiError('invalidAttributes', error.message, error)
    throw error
  }
}

/** Fatal faults that attributes or blocks of the caller can cause. They end a node that derives these itself, but not one that is driven. */
const causedByCaller: readonly string[] = ['INVALID_ATTRIBUTES', 'EVM_TOO_LARGE', 'MALFORMED_L1_ATTRIBUTES']

/** Converts faults that the caller may see to EngineApiError; returns other errors unchanged, so only fatal faults of the execution half itself. */
function errorOf(error: unknown): unknown {
  if (error instanceof EngineApiError || !isFault(error)) return error
  if (error.code === 'BLOCK_NOT_EXECUTED') return engineApiError('notExecuted', error.message, error)
  if (error.code === 'INVALID_ATTRIBUTES') return engineApiError('invalidAttributes', error.message, error)
  const isOwn = error.severity === 'fatal' && !causedByCaller.includes(error.code)
  return isOwn ? error : engineApiError('server', error.message, error)
}

/** Creates the Engine API. @param deps `config` is that of the engine's chain */
export function createEngineApi(deps: EngineApiDeps): EngineApi {
  return new LocalEngineApi(deps)
}

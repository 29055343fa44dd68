import { l2RefOf } from '#chainspec/l2Ref'
import { aborted } from '#lib/abortable'
import { equalBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { toQuantity } from '#lib/hex'
import type { Log } from '#lib/log'
import type { BlockId, L2Ref } from '#types/blockRef'
import { hashHeader } from '#types/header'
import { type Address, type Hash, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { EngineConfig } from './engineApi.ts'
import { engineApiErrors } from './engineApiError.ts'
import { createEngineReads, type EngineReads } from './engineReads.ts'
import { createEngineRpc, type EngineRpc, type EngineRpcDeps, type EngineRpcOptions, type RpcOutcome } from './engineRpc.ts'
import { engineFault } from './faults.ts'
import { headerOfPayload } from './payloadHeader.ts'
import { encodeAttributes, encodePayload, parsePayload } from './payloadJson.ts'
import type { BuildResult, Engine, Heads, InsertResult } from './port.ts'
import { methodVersionsAt, newPayloadRefusal, usedMethods } from './versions.ts'

export type EngineHttpDeps = EngineRpcDeps & { readonly log: Log }
export type EngineHttpOptions = EngineRpcOptions & { readonly config: EngineConfig }

/** Execution half in another process, called over the Engine API. */
export interface EngineHttp extends Engine {
  /**
   * Checks chain id, genesis block and methods.
   * @throws Fault ENGINE_WRONG_CHAIN (fatal), ENGINE_UNREACHABLE, ENGINE_UNAUTHORIZED, ENGINE_BAD_ANSWER, ENGINE_ERROR, ENGINE_METHOD_MISSING
   *   (retry); the signal's reason
   */
  check(signal: AbortSignal): Promise<void>
  /**
   * Names a block as the head although its ancestors may be missing: an execution half with peers then fetches them. Safe and finalized stay.
   * @returns whether the block is the head now
   * @throws Fault INVALID_FORKCHOICE (reset) when it is invalid or leaves out the safe block, and those of `insert`
   */
  nameHead(payload: Payload): Promise<boolean>
  /** Returns the name of the client, in lower case; undefined: the client does not report it. */
  clientName(): Promise<string | undefined>
}

type Status = { readonly status: string; readonly reason: string }

class RemoteEngine implements EngineHttp {
  readonly #rpc: EngineRpc
  readonly #reads: EngineReads
  readonly #config: EngineConfig
  readonly #log: Log
  /** last heads of the execution half */
  #heads: Heads | undefined

  constructor(rpc: EngineRpc, config: EngineConfig, log: Log) {
    this.#rpc = rpc
    this.#config = config
    this.#log = log
    this.#reads = createEngineReads(rpc)
  }

  async insert(payload: Payload): Promise<InsertResult> {
    const { schedule } = this.#config
    const version = methodVersionsAt(schedule, payload.timestamp).newPayload
    const refusal = newPayloadRefusal(schedule, version, payload)
    if (refusal) return { kind: 'invalid', reason: refusal.reason }
    const beside = version >= 3 ? [[], payload.parentBeaconBlockRoot] : []
    const method = `engine_newPayloadV${version}`
    const answer = await this.#rpc.call(method, [encodePayload(payload), ...beside, ...(version >= 4 ? [[]] : [])])
    const abandoned = errorOf(answer, 'notExecuted')
    if (abandoned)
      throw engineFault('BLOCK_NOT_EXECUTED', { number: payload.blockNumber, reason: 'the execution half gave up; its log has the reason' })
    const { status, reason } = this.#statusOf(method, this.#resultOf(method, answer))
    if (status === 'VALID') return { kind: 'valid' }
    if (status === 'INVALID' || status === 'INVALID_BLOCK_HASH') return { kind: 'invalid', reason }
    throw engineFault('UNKNOWN_PARENT', { hash: payload.parentHash, number: payload.blockNumber - 1 })
  }

  async build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onForcedExecuted?: () => void): Promise<BuildResult> {
    // sealed from the start: there is no time for the pool
    const asked = seal?.aborted ? { ...attributes, noTxPool: true } : attributes
    const whenSealed = asked.noTxPool ? undefined : seal
    const begun = asked.noTxPool ? undefined : onForcedExecuted
    const payload = (await this.#buildOnce(parent, asked, whenSealed, begun)) ?? (await this.#buildOnce(parent, asked, whenSealed))
    if (payload === undefined) throw this.#badAnswer('engine_getPayload', 'the payload that it began to build is unknown to it')
    if ('kind' in payload) return payload
    const inserted = await this.insert(payload)
    return inserted.kind === 'valid' ? { kind: 'built', payload } : inserted
  }

  /** Builds a payload; undefined when the execution half has lost the job, as after a restart. */
  async #buildOnce(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal: AbortSignal | undefined,
    onForcedExecuted?: () => void,
  ): Promise<Payload | Extract<BuildResult, { kind: 'invalid' }> | undefined> {
    const began = await this.#beginBuild(parent, attributes)
    if (typeof began !== 'string') return began
    onForcedExecuted?.()
    if (seal) await aborted(seal)
    const method = `engine_getPayloadV${methodVersionsAt(this.#config.schedule, attributes.timestamp).getPayload}`
    const answer = await this.#rpc.call(method, [began])
    if (errorOf(answer, 'unknownPayload')) return undefined
    const payload = this.#payloadIn(method, this.#resultOf(method, answer), attributes)
    if (payload.parentHash !== parent.hash || payload.timestamp !== attributes.timestamp) {
      throw this.#badAnswer(method, 'the payload is not the requested one')
    }
    const isKept = attributes.transactions.every((raw, index) => equalBytes(raw, payload.transactions[index] ?? new Uint8Array(0)))
    const isAlone = !attributes.noTxPool || payload.transactions.length === attributes.transactions.length
    return isKept && isAlone ? payload : { kind: 'invalid', reason: 'the execution half omitted or added transactions' }
  }

  /** @returns the payload id */
  async #beginBuild(parent: BlockId, attributes: PayloadAttributes): Promise<string | Extract<BuildResult, { kind: 'invalid' }>> {
    const method = `engine_forkchoiceUpdatedV${methodVersionsAt(this.#config.schedule, attributes.timestamp).forkchoiceUpdated}`
    const begin = (label: (name: 'safe' | 'finalized') => Hash): Promise<RpcOutcome> =>
      this.#rpc.call(method, [forkchoiceOf(parent.hash, label('safe'), label('finalized')), encodeAttributes(attributes)])
    let answer = await begin((name) => {
      const known = this.#heads?.[name]
      return known && known.number <= parent.number ? known.hash : zeroHash
    })
    // the parent is on a branch without the known labels; the request then names none, and the next forkchoice update sets them
    if (errorOf(answer, 'invalidForkchoice')) answer = await begin(() => zeroHash)
    const invalid = errorOf(answer, 'invalidAttributes')
    if (invalid) return { kind: 'invalid', reason: `the execution half refuses the attributes with error ${invalid.code}` }
    const refused = errorOf(answer, 'invalidForkchoice')
    if (refused) throw forkchoiceFault(parent.hash, refusedHeads(refused))
    const { payloadStatus, payloadId } = this.#resultOf(method, answer) as { payloadStatus?: unknown; payloadId?: unknown }
    const { status, reason } = this.#statusOf(method, payloadStatus)
    if (status === 'INVALID') return { kind: 'invalid', reason }
    if (status !== 'VALID') throw engineFault('UNKNOWN_PARENT', parent)
    if (typeof payloadId !== 'string') throw this.#badAnswer(method, 'no payload id')
    return payloadId
  }

  #payloadIn(method: string, result: unknown, attributes: PayloadAttributes): Payload {
    const envelope = result as { executionPayload?: unknown } | null
    const payload = this.#reads.checked(method, () => parsePayload(envelope?.executionPayload ?? result, attributes.parentBeaconBlockRoot))
    if (hashHeader(headerOfPayload(this.#config.schedule, payload)) === payload.blockHash) return payload
    throw this.#badAnswer(method, `the payload does not hash to ${payload.blockHash}`)
  }

  async setHeads(heads: Heads): Promise<void> {
    const { unsafe, safe, finalized } = heads
    const isThere = await this.#updateForkchoice(unsafe, safe.hash, finalized.hash)
    if (!isThere) {
      if ((await this.payload(unsafe.hash)) === undefined) throw forkchoiceFault(unsafe.hash, 'the block is unknown')
      throw engineFault('ENGINE_SYNCING', { endpoint: this.#rpc.endpoint, hash: unsafe.hash })
    }
    this.#heads = heads
  }

  async nameHead(payload: Payload): Promise<boolean> {
    const isKnown = await this.insert(payload).catch((error: unknown) => {
      if (isFault(error, 'UNKNOWN_PARENT')) return undefined
      throw error
    })
    if (isKnown?.kind === 'invalid') throw forkchoiceFault(payload.blockHash, isKnown.reason)
    // with the labels, so that no branch without the safe block becomes the chain
    const { safe, finalized } = this.#heads ?? (await this.heads())
    return await this.#updateForkchoice({ hash: payload.blockHash, timestamp: payload.timestamp }, safe.hash, finalized.hash)
  }

  async clientName(): Promise<string | undefined> {
    const answer = await this.#rpc.call('engine_getClientVersionV1', [{ code: 'BA', name: 'basalt', version: '', commit: '00000000' }])
    const [first] = answer.kind === 'result' && Array.isArray(answer.result) ? (answer.result as readonly unknown[]) : []
    const { name } = (first ?? {}) as { readonly name?: unknown }
    return typeof name === 'string' ? name.toLowerCase() : undefined
  }

  /** @returns whether the head is known; @throws Fault INVALID_FORKCHOICE (reset) */
  async #updateForkchoice(head: Pick<L2Ref, 'hash' | 'timestamp'>, safe: Hash, finalized: Hash): Promise<boolean> {
    const method = `engine_forkchoiceUpdatedV${methodVersionsAt(this.#config.schedule, head.timestamp).forkchoiceUpdated}`
    const answer = await this.#rpc.call(method, [forkchoiceOf(head.hash, safe, finalized), null])
    const refused = errorOf(answer, 'invalidForkchoice')
    if (refused) throw forkchoiceFault(head.hash, refusedHeads(refused))
    const { payloadStatus } = this.#resultOf(method, answer) as { payloadStatus?: unknown }
    const { status, reason } = this.#statusOf(method, payloadStatus)
    if (status === 'INVALID') throw forkchoiceFault(head.hash, reason)
    return status === 'VALID'
  }

  async heads(): Promise<Heads> {
    const { genesis } = this.#config
    const labelled = async (label: 'latest' | 'safe' | 'finalized'): Promise<L2Ref> => {
      const payload = (await this.#reads.block(label)) ?? (await this.#reads.block(genesis.l2.number))
      if (payload === undefined) throw this.#badAnswer('eth_getBlockByNumber', 'the genesis block is missing')
      return l2RefOf(this.#config, payload)
    }
    const [unsafe, safe, finalized] = [await labelled('latest'), await labelled('safe'), await labelled('finalized')]
    this.#heads = { unsafe, safe, finalized }
    return this.#heads
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    return await this.#reads.block(at)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    const payload = await this.payload(block.hash)
    return payload && (await this.#reads.storageRoot(account, block.hash, payload.stateRoot))
  }

  async check(signal: AbortSignal): Promise<void> {
    const { l2ChainId, genesis, schedule } = this.#config
    const wrong = (what: string, expected: string, found: string): Error =>
      engineFault('ENGINE_WRONG_CHAIN', { endpoint: this.#rpc.endpoint, what, expected, found })
    const chainId = this.#resultOf('eth_chainId', await this.#rpc.call('eth_chainId', [], signal))
    if (chainId !== toQuantity(l2ChainId)) throw wrong('chain id', toQuantity(l2ChainId), String(chainId).slice(0, 80))
    const first = await this.#reads.block(genesis.l2.number, signal)
    // a half that began with a snapshot has no genesis block; it has compared its own config
    const beginsLater = first === undefined && (await this.#reads.block('latest', signal)) !== undefined
    if (!beginsLater && first?.blockHash !== genesis.l2.hash) throw wrong('genesis block', genesis.l2.hash, first?.blockHash ?? 'none')
    const used = usedMethods(schedule)
    const offered = await this.#rpc.call('engine_exchangeCapabilities', [used], signal)
    if (offered.kind === 'error' || !Array.isArray(offered.result)) return // an older execution half does not report its methods
    const known: readonly unknown[] = offered.result
    const missing = used.filter((method) => !known.includes(method))
    if (missing.length > 0) this.#log.warn('execution half lacks methods', { methods: missing.join(' ') })
  }

  #resultOf(asked: string, answer: RpcOutcome): unknown {
    if (answer.kind === 'result') return answer.result
    throw engineFault('ENGINE_ERROR', { endpoint: this.#rpc.endpoint, asked, code: answer.code })
  }

  #statusOf(asked: string, value: unknown): Status {
    const { status } = (value ?? {}) as { status?: unknown }
    if (typeof status !== 'string') throw this.#badAnswer(asked, 'no payload status')
    return { status, reason: 'the execution half finds it invalid; its log has the reason' }
  }

  #badAnswer(asked: string, reason: string): Error {
    return engineFault('ENGINE_BAD_ANSWER', { endpoint: this.#rpc.endpoint, asked, reason })
  }
}

type RpcError = Extract<RpcOutcome, { kind: 'error' }>
const refusedHeads = ({ code }: RpcError): string => `the execution half refuses it with error ${code}`
const errorOf = (answer: RpcOutcome, kind: keyof typeof engineApiErrors): RpcError | undefined =>
  answer.kind === 'error' && answer.code === engineApiErrors[kind].code ? answer : undefined

const forkchoiceOf = (head: Hash, safe: Hash, finalized: Hash): Readonly<Record<string, Hash>> => ({
  headBlockHash: head,
  safeBlockHash: safe,
  finalizedBlockHash: finalized,
})

const forkchoiceFault = (hash: Hash, reason: string): Error => engineFault('INVALID_FORKCHOICE', { label: 'unsafe', hash, reason })

/** Converts `ws://` to `http://`. Other clients also name their Engine API by `ws://`; the same port serves HTTP. */
export function httpUrlOf(url: string): string {
  return url.replace(/^ws(s?):/i, 'http$1:')
}

/**
 * Creates an `Engine` over an execution half in another process. Every request has a token of its own; connections are kept alive; there are no
 * retries here. Blocks and storage roots are verified by hashes.
 */
export function createEngineHttp(deps: EngineHttpDeps, options: EngineHttpOptions): EngineHttp {
  const url = httpUrlOf(options.url)
  if (url !== options.url) deps.log.warn('engine called over HTTP instead of WebSocket', { endpoint: new URL(url).host })
  return new RemoteEngine(createEngineRpc(deps, { ...options, url }), options.config, deps.log)
}

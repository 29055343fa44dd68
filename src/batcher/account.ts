import { emptyBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Address, Hash } from '#types/ids'
import { type Signed, type UnsignedTransaction, wrapBlobTransaction } from '#types/signing'
import type { Parcel } from './channelParcels.ts'
import { blobTransactionGas, calldataGas } from './cost.ts'
import type { RefusalReason } from './faults.ts'
import { type Fees, freshFees, isBelowPrice, replacementFees } from './fees.ts'
import type { BatcherMetrics } from './metrics.ts'
import { nextStep } from './nextStep.ts'
import type { BatcherSettings } from './options.ts'
import type { AccountNonces, BatcherL1, Inclusion, L1Tip } from './ports.ts'

/** Signer with the key of the batcher's account. */
export type BatcherSigner = (unsigned: UnsignedTransaction) => Signed

export type AccountDeps = {
  readonly l1: Pick<BatcherL1, 'send' | 'inclusion'>
  readonly signer: BatcherSigner
  readonly clock: Clock
  readonly log: Log
  readonly metrics: BatcherMetrics
}
export type AccountSettings = Pick<
  BatcherSettings,
  'maxPendingTransactions' | 'resubmitMs' | 'keepBytes' | 'keepL1Blocks' | 'priorityFeeWei' | 'maxFeePerGasWei' | 'maxFeePerBlobGasWei'
> & { readonly inbox: Address; readonly l1ChainId: number }

/** Signed version of a parcel's transaction, with its fees. */
type Attempt = { readonly hash: Hash; readonly fees: Fees }

/** Nonce with its parcel and all transactions sent with it. */
type Slot = {
  readonly nonce: bigint
  readonly parcel: Parcel
  readonly attempts: Attempt[]
  /** newest attempt: EIP-2718 bytes without the sidecar */
  raw: Uint8Array
  /** time of the newest attempt */
  attemptAtMs: number
  attemptAtL1: number
  /** L1 head at the last send; undefined when not sent yet, or when a reorg undid the inclusion */
  sentAtL1: number | undefined
  refusal: RefusalReason | undefined
  inclusion: Inclusion | undefined
  /** number of consecutive refusals with reason `other` */
  refusals: number
  /** number of rounds in which the nonce was used but no attempt was found */
  misses: number
}

/** Number of refusals of the lowest transaction, for a reason other than fees, nonce or funds, after which it is abandoned. */
const maxRefusals = 3
/** Number of rounds in which a receipt may be missing after its nonce was counted. */
const maxMisses = 3

/**
 * State of the account's nonces. `lost`: another sender used one of them. `deep-reorg`: L1 moved back behind all kept transactions. `refused`: L1
 * does not accept the lowest transaction.
 */
export type AccountState = 'ok' | 'lost' | 'deep-reorg' | 'refused'

/**
 * Batcher's account on L1. It sends parcels in order, with consecutive nonces, several at a time. A transaction that is not included is sent again or
 * replaced with higher fees. A transaction that a reorg undid is sent again with its nonce.
 */
export class BatcherAccount {
  readonly #deps: AccountDeps
  readonly #settings: AccountSettings
  #queue: Parcel[] = []
  /** consecutive nonces, the last one before `#next` */
  #slots: Slot[] = []
  #next: bigint | undefined
  #feesWei = 0n

  constructor(deps: AccountDeps, settings: AccountSettings) {
    this.#deps = deps
    this.#settings = settings
  }

  /** Number of transactions with a nonce that are not included. */
  get pending(): number {
    return this.#pendingSlots().length
  }

  /** True when the pending transactions are blob transactions. */
  get hasBlobsPending(): boolean {
    return this.#pendingSlots()[0]?.parcel.content.kind === 'blobs'
  }

  /** Number of parcels without a nonce. */
  get queued(): number {
    return this.#queue.length
  }

  /** Size of the parcels that are not included. */
  get waitingBytes(): number {
    let bytes = 0
    for (const parcel of this.#queue) bytes += parcel.bytes
    for (const { parcel } of this.#pendingSlots()) bytes += parcel.bytes
    return bytes
  }

  /** Fees of included transactions; transactions undone by a reorg are subtracted. */
  get feesWei(): bigint {
    return this.#feesWei
  }

  /** Starts at L1's nonce. Keeps earlier transactions for the case of a reorg, if all of them are included. */
  begin(nonces: AccountNonces): void {
    if (this.#next === nonces.latest && this.pending === 0) return
    this.#slots = []
    this.#next = nonces.latest
  }

  enqueue(parcels: readonly Parcel[]): void {
    this.#queue.push(...parcels)
  }

  /** Drops parcels without a nonce. */
  clearQueue(): void {
    this.#queue = []
  }

  /** Updates the slots from L1's state. After any result but `ok` all slots are dropped and `begin` must be called. */
  async sync(nonces: AccountNonces, tip: L1Tip, signal: AbortSignal): Promise<AccountState> {
    if (this.#next === undefined) return 'ok'
    const first = this.#next - BigInt(this.#slots.length)
    if (nonces.latest < first) return this.#forget('deep-reorg')
    for (const slot of this.#slots) {
      if (slot.nonce >= nonces.latest) this.#undo(slot)
      else if (slot.inclusion === undefined) await this.#locate(slot, signal)
    }
    const isLost = nonces.latest > this.#next || this.#slots.some(({ misses }) => misses >= maxMisses)
    if (isLost) {
      this.#deps.metrics.transactions.inc({ event: 'lost' })
      return this.#forget('lost')
    }
    const [lowest] = this.#pendingSlots()
    if (lowest && lowest.refusals >= maxRefusals) return this.#forget('refused')
    this.#prune(tip)
    return 'ok'
  }

  /**
   * Looks up the inclusion of these parcels again.
   * @returns whether all of them are still in the same L1 block
   */
  async confirm(parcels: readonly Parcel[], signal: AbortSignal): Promise<boolean> {
    let isAsBefore = true
    for (const slot of this.#slots) {
      if (slot.inclusion === undefined || !parcels.includes(slot.parcel)) continue
      const { hash } = slot.inclusion.block
      this.#undo(slot)
      await this.#locate(slot, signal)
      if ((slot.inclusion as Inclusion | undefined)?.block.hash !== hash) isAsBefore = false
    }
    return isAsBefore
  }

  /**
   * Sends all transactions that can be sent, for the first time or again. Refusals by L1 are recorded, not thrown.
   * @throws Fault (retry) when L1 does not respond; the next call sends the rest
   */
  async push(nonces: AccountNonces, tip: L1Tip, signal: AbortSignal): Promise<void> {
    let isLowest = true
    for (const slot of this.#pendingSlots()) {
      await this.#advance(slot, isLowest, nonces, tip, signal)
      if (slot.refusal !== undefined) return
      isLowest = false
    }
    for (let parcel = this.#nextParcel(); parcel !== undefined && this.#next !== undefined; parcel = this.#nextParcel()) {
      const slot = this.#open(parcel, this.#next)
      this.#next += 1n
      this.#queue.shift()
      this.#attempt(slot, freshFees(parcel.content.kind, tip, this.#settings), tip)
      await this.#send(slot, tip, 'sent', signal)
      if (slot.refusal !== undefined) return
    }
  }

  #pendingSlots(): Slot[] {
    return this.#slots.filter(({ inclusion }) => inclusion === undefined)
  }

  /**
   * Returns the next parcel that can be sent. L1 pools hold either blob transactions or other transactions of an account, so a parcel of the other
   * kind waits until all pending ones are included.
   */
  #nextParcel(): Parcel | undefined {
    const [parcel] = this.#queue
    const pending = this.#pendingSlots()
    if (parcel === undefined || pending.length >= this.#settings.maxPendingTransactions) return undefined
    return pending.every((slot) => slot.parcel.content.kind === parcel.content.kind) ? parcel : undefined
  }

  #open(parcel: Parcel, nonce: bigint): Slot {
    const slot: Slot = {
      nonce,
      parcel,
      attempts: [],
      raw: emptyBytes,
      attemptAtMs: 0,
      attemptAtL1: 0,
      sentAtL1: undefined,
      refusal: undefined,
      inclusion: undefined,
      refusals: 0,
      misses: 0,
    }
    this.#slots.push(slot)
    return slot
  }

  async #advance(slot: Slot, isLowest: boolean, nonces: AccountNonces, tip: L1Tip, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#deps
    const { kind } = slot.parcel.content
    const fees = slot.attempts.at(-1)?.fees ?? freshFees(kind, tip, this.#settings)
    const step = nextStep({
      refusal: slot.refusal,
      sentAtL1: slot.sentAtL1,
      attemptAtL1: slot.attemptAtL1,
      attemptAgeMs: clock.elapsedMs() - slot.attemptAtMs,
      l1Number: tip.number,
      isLowest,
      isBelowPrice: isBelowPrice(kind, fees, tip),
      isInPool: slot.nonce < nonces.pending,
      resubmitMs: this.#settings.resubmitMs,
    })
    if (step === 'wait') return
    const dearer = step === 'replace' ? replacementFees(kind, fees, tip, this.#settings) : undefined
    if (step === 'send-again') return this.#send(slot, tip, 'sent_again', signal)
    if (dearer === undefined) {
      if (slot.sentAtL1 === tip.number) return
      log.warn('batcher transaction not included, fees are at their limit', { nonce: slot.nonce, ...fees })
      return this.#send(slot, tip, 'sent_again', signal)
    }
    metrics.transactions.inc({ event: 'replaced' })
    this.#attempt(slot, dearer, tip)
    return this.#send(slot, tip, 'sent', signal)
  }

  #attempt(slot: Slot, fees: Fees, tip: L1Tip): void {
    const { raw, hash } = this.#deps.signer(this.#unsigned(slot, fees))
    slot.attempts.push({ hash, fees })
    slot.raw = raw
    slot.attemptAtMs = this.#deps.clock.elapsedMs()
    slot.attemptAtL1 = tip.number
    slot.sentAtL1 = undefined
  }

  #unsigned({ nonce, parcel }: Slot, fees: Fees): UnsignedTransaction {
    const { inbox, l1ChainId } = this.#settings
    const { maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas } = fees
    const common = { chainId: BigInt(l1ChainId), nonce, to: inbox, value: 0n, accessList: [], maxFeePerGas, maxPriorityFeePerGas }
    if (parcel.content.kind === 'calldata') {
      const { data } = parcel.content
      return { ...common, type: 2, gasLimit: calldataGas(data), data }
    }
    const { hashes } = parcel.content
    return { ...common, type: 3, gasLimit: blobTransactionGas, data: emptyBytes, maxFeePerBlobGas, blobVersionedHashes: hashes }
  }

  async #send(slot: Slot, tip: L1Tip, event: 'sent' | 'sent_again', signal: AbortSignal): Promise<void> {
    const { l1, log, metrics } = this.#deps
    const attempt = slot.attempts.at(-1)
    if (attempt === undefined) return
    const { content } = slot.parcel
    slot.refusal = undefined
    try {
      await l1.send(content.kind === 'blobs' ? wrapBlobTransaction(slot.raw, content.sidecar) : slot.raw, signal)
      slot.refusals = 0
      metrics.transactions.inc({ event })
      log.debug('batcher transaction sent', { nonce: slot.nonce, hash: attempt.hash, bytes: slot.parcel.bytes, ...attempt.fees })
    } catch (error) {
      if (!isFault(error, 'L1_TX_REFUSED')) throw error
      slot.refusal = error.data['reason'] as RefusalReason
      slot.refusals = slot.refusal === 'other' ? slot.refusals + 1 : 0
      metrics.transactions.inc({ event: 'refused' })
      log.warn('batcher transaction refused by L1', { nonce: slot.nonce, hash: attempt.hash, error })
    }
    slot.sentAtL1 = tip.number
  }

  async #locate(slot: Slot, signal: AbortSignal): Promise<void> {
    const { l1, metrics, log } = this.#deps
    for (const { hash } of slot.attempts.toReversed()) {
      const inclusion = await l1.inclusion(hash, signal)
      if (inclusion === undefined) continue
      slot.inclusion = inclusion
      slot.parcel.includedAt = inclusion.block.number
      slot.misses = 0
      slot.refusal = undefined
      this.#feesWei += inclusion.feeWei
      metrics.transactions.inc({ event: 'included' })
      log.debug('batcher transaction included', { nonce: slot.nonce, hash, l1: inclusion.block.number, feeWei: inclusion.feeWei })
      return
    }
    slot.misses++
  }

  /** Clears the inclusion of a transaction that is no longer canonical, so that it is sent again. */
  #undo(slot: Slot): void {
    slot.misses = 0
    if (slot.inclusion === undefined) return
    this.#deps.metrics.transactions.inc({ event: 'undone' })
    this.#feesWei -= slot.inclusion.feeWei
    slot.inclusion = undefined
    slot.parcel.includedAt = undefined
    slot.sentAtL1 = undefined
    slot.attemptAtMs = this.#deps.clock.elapsedMs()
  }

  #forget<T extends AccountState>(state: T): T {
    this.#slots = []
    this.#queue = []
    this.#next = undefined
    return state
  }

  /** Drops included transactions that are too deep for a reorg, or beyond the limit in bytes. */
  #prune({ number }: L1Tip): void {
    let kept = 0
    for (const { parcel } of this.#slots) kept += parcel.bytes
    for (let [slot] = this.#slots; slot?.inclusion !== undefined; [slot] = this.#slots) {
      const depth = number - slot.inclusion.block.number
      if (depth < this.#settings.keepL1Blocks && kept <= this.#settings.keepBytes) return
      kept -= slot.parcel.bytes
      this.#slots.shift()
    }
  }
}

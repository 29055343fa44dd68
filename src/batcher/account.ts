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

/** Signs with the key of the batcher's account. */
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

/** One try to have a parcel included. */
type Attempt = { readonly hash: Hash; readonly fees: Fees }

/** A nonce, and all that was sent with it. */
type Slot = {
  readonly nonce: bigint
  readonly parcel: Parcel
  readonly attempts: Attempt[]
  /** of the newest attempt: EIP-2718 bytes without the sidecar */
  raw: Uint8Array
  /** of the newest attempt */
  attemptAtMs: number
  attemptAtL1: number
  /** L1's head when it was handed in last; undefined: it was not, or L1 has lost it */
  sentAtL1: number | undefined
  refusal: RefusalReason | undefined
  inclusion: Inclusion | undefined
  /** times in a row that L1 gave `other` as its reason */
  refusals: number
  /** rounds in which the nonce was used and none of the attempts was found */
  misses: number
}

/** L1 blocks in which the lowest transaction is refused for a reason that is no matter of fees, nonce or funds, until it counts as hopeless. */
const maxRefusals = 3
/** A receipt may come later than the nonce that it is of. */
const maxMisses = 3

/**
 * What became of the account's nonces: `lost`: somebody else used one of them; `deep-reorg`: L1 has gone back behind all that is kept; `refused`: L1
 * does not take the lowest transaction at all.
 */
export type AccountState = 'ok' | 'lost' | 'deep-reorg' | 'refused'

/**
 * The batcher's account on L1: parcels go out in their order, each with the nonce after the one before, several at a time. What is not included
 * is sent again or replaced by dearer fees; what a reorg took out is sent again with its nonce.
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

  /** Transactions with a nonce that are not included. */
  get pending(): number {
    return this.#pendingSlots().length
  }

  /** Whether what waits for inclusion are blob transactions. */
  get hasBlobsPending(): boolean {
    return this.#pendingSlots()[0]?.parcel.content.kind === 'blobs'
  }

  /** Parcels without a nonce yet. */
  get queued(): number {
    return this.#queue.length
  }

  /** Of parcels that are not included. */
  get waitingBytes(): number {
    let bytes = 0
    for (const parcel of this.#queue) bytes += parcel.bytes
    for (const { parcel } of this.#pendingSlots()) bytes += parcel.bytes
    return bytes
  }

  /** Of included transactions, without what a reorg took out. */
  get feesWei(): bigint {
    return this.#feesWei
  }

  /** Begins with L1's nonce. What was sent before is kept for the case of a reorg, if all of it is in L1's chain. */
  begin(nonces: AccountNonces): void {
    if (this.#next === nonces.latest && this.pending === 0) return
    this.#slots = []
    this.#next = nonces.latest
  }

  enqueue(parcels: readonly Parcel[]): void {
    this.#queue.push(...parcels)
  }

  /** Forgets what has no nonce yet. */
  clearQueue(): void {
    this.#queue = []
  }

  /** Takes in how far L1 is. After anything but `ok` nothing of the account is known: `begin` again. */
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

  /** Asks again where these parcels are. @returns whether all of them still are where they were */
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
   * Sends what can be sent, again or for the first time. L1's refusals are kept in mind, not thrown.
   * @throws Fault (retry) when L1 does not answer: what was not sent is sent the next time
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

  /** Pools hold blob transactions or others of an account, never both: the next kind waits until those before are included. */
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
      log.warn('a batcher transaction is not included, and its fees are at their bound', { nonce: slot.nonce, ...fees })
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
      log.warn('L1 refuses a batcher transaction', { nonce: slot.nonce, hash: attempt.hash, error })
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

  /** It is in no canonical block any more: it is to be sent again. */
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

  /** Included transactions are kept as long as a reorg may take them out: within bounds. */
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

import type { BuildPool, PoolCandidate, PoolCursor } from '#block/building/buildPool'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { Senders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import { feeCapOf } from '#block/validation/transactionValidity'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { transactionGasCap } from '#chainspec/evmRules'
import { evmRulesAt } from '#chainspec/opRules'
import type { Clock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Log } from '#lib/log'
import type { Journal } from '#store/ports'
import type { Address, Hash } from '#types/ids'
import type { PooledTransaction, PoolOutcome, PoolRefusal } from '#types/pooledTransaction'
import { depositType, hashTransaction, type SignedTransaction } from '#types/transaction'
import type { PoolRemoval } from '#types/transactionPool'
import { BestCursor } from './bestCursor.ts'
import { decodePooled, type EntryLimits, refuseAlone, refuseOfSender } from './checks.ts'
import { newEntry, type PoolEntry, pooled, worthBehind } from './entry.ts'
import { Eviction } from './eviction.ts'
import { blocksAbove, changedAccount } from './headChange.ts'
import type { HeadFacts } from './headFacts.ts'
import { HeadReader, type PoolView } from './headReader.ts'
import { PoolJournal } from './poolJournal.ts'
import { PoolRestore } from './poolRestore.ts'
import { PoolTotals } from './poolTotals.ts'
import { type SenderAccount, SenderQueue } from './senderQueue.ts'

export type TxPoolDeps = {
  readonly config: ExecutionConfig
  /** Opens a view of the present chain. Not called before the first record is published. The view is disposed of before the pool's call ends. */
  readonly view: () => PoolView
  readonly senders: Senders
  /** Keeps the transactions across restarts. The caller closes it after the pool. Absent: the transactions are lost. */
  readonly journal?: Journal
  readonly clock: Pick<Clock, 'elapsedMs' | 'after'>
  readonly log: Log
}

export type TxPoolLimits = Partial<EntryLimits> & {
  /** approximate memory of all transactions, in bytes */
  readonly maxBytes?: number
  /** approximate memory of one sender's transactions, in bytes */
  readonly maxAccountBytes?: number
  /** maximum time for which a transaction may be queued */
  readonly queuedLifetimeMs?: number
}

/** Why a transaction left. `superseded`: another transaction used its nonce. `unusable`: no block can take it. `dropped`: by an operator. */
export const removalReasons = ['included', 'superseded', 'replaced', 'evicted', 'expired', 'unusable', 'dropped'] as const
export type RemovalReason = (typeof removalReasons)[number]

/** Present contents of the pool, in bytes as counted towards the limits, and counts since the start. */
export type TxPoolFacts = {
  readonly pending: number
  readonly queued: number
  readonly heldBytes: number
  readonly outcomes: Readonly<Partial<Record<'added' | 'known' | PoolRefusal['kind'], number>>>
  readonly removals: Readonly<Partial<Record<RemovalReason, number>>>
}

export const defaultPoolLimits = {
  maxBytes: 64 * 2 ** 20,
  maxAccountBytes: 8 * 2 ** 20,
  maxTransactionBytes: 128 * 1_024,
  minTip: 0n,
  maxNonceAhead: 10_000n,
  queuedLifetimeMs: 3 * 3_600_000,
}
/** Above this number of new blocks, accounts are read from the state instead of the blocks' diffs. */
const maxDiffs = 16
/** Number of expiry checks per lifetime of a queued transaction. */
const expiryRounds = 60

/**
 * Transactions that wait for a block. The pool is synchronous and runs in the thread that holds the state. All transactions arrive through this node,
 * so none are preferred as local. A full pool evicts those with the lowest tips, queued ones first.
 */
export class TxPool implements BuildPool {
  readonly #deps: TxPoolDeps
  readonly #limits: typeof defaultPoolLimits
  readonly #journal: PoolJournal | undefined
  readonly #totals = new PoolTotals()
  readonly #queues = new Map<Address, SenderQueue>()
  readonly #byHash = new Map<Hash, PoolEntry>()
  readonly #listeners = new Set<() => void>()
  readonly #outcomes: Partial<Record<'added' | 'known' | PoolRefusal['kind'], number>> = {}
  readonly #removals: Partial<Record<RemovalReason, number>> = {}
  #head: { readonly number: number; readonly hash: Hash } | undefined
  /** facts of the head; undefined until they are needed */
  #facts: HeadFacts | undefined
  /** gas cap per transaction under the rules after the head */
  #gasCap: bigint | undefined
  /** created when the pool is full */
  #eviction: Eviction | undefined
  #restore: PoolRestore | undefined
  #arrivals = 0
  #nextExpiryMs = 0

  constructor(deps: TxPoolDeps, limits: TxPoolLimits) {
    this.#deps = deps
    this.#limits = { ...defaultPoolLimits, ...limits }
    this.#journal = deps.journal && new PoolJournal(deps.journal, deps.log)
  }

  /** Validates transactions on the unsafe head. Accepted ones are in the journal when this returns. @returns one outcome each, in order */
  add(raws: readonly Uint8Array[]): readonly PoolOutcome[] {
    return this.#change((reader) => {
      const outcomes = raws.map((raw) => this.#addRaw(reader, raw))
      this.#journal?.append(raws.filter((_, i) => outcomes[i]?.kind === 'added'))
      for (const outcome of outcomes) count(this.#outcomes, outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind)
      this.#compact()
      return outcomes
    })
  }

  get(hash: Hash): PooledTransaction | undefined {
    this.#restore?.finish()
    const entry = this.#byHash.get(hash)
    return entry && pooled(entry)
  }

  /** Returns the nonce after the account's pending transactions; undefined when it has none. */
  nextNonce(sender: Address): bigint | undefined {
    this.#restore?.finish()
    const queue = this.#queues.get(sender)
    return queue && queue.pendingCount > 0 ? queue.nextNonce : undefined
  }

  size(): { pending: number; queued: number } {
    const { pending, queued } = this.#totals
    return { pending, queued }
  }

  /** Returns all transactions, or those of one sender, ordered by sender and nonce. */
  content(sender?: Address): readonly PooledTransaction[] {
    this.#restore?.finish()
    const senders = sender === undefined ? [...this.#queues.keys()].sort() : [sender]
    return senders.flatMap((address) => this.#queues.get(address)?.entries.map(pooled) ?? [])
  }

  best(baseFee: bigint): PoolCursor {
    return new BestCursor(this.#queues, this.#totals, baseFee, (candidate) => this.#discard(candidate))
  }

  onAdded(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: (): void => void this.#listeners.delete(listener) }
  }

  facts(): TxPoolFacts {
    const { pending, queued, heldBytes } = this.#totals
    return { pending, queued, heldBytes, outcomes: { ...this.#outcomes }, removals: { ...this.#removals } }
  }

  /**
   * Begins to restore the transactions of the journal. Call it once, after the first head is published and before any transaction is added. Reads and
   * removals of transactions restore the rest first. @returns undefined without a journal
   */
  restore(): PoolRestore | undefined {
    const journal = this.#journal
    if (journal === undefined) return undefined
    const { clock, log } = this.#deps
    const add = (raws: Iterable<Uint8Array>): void =>
      this.#change((reader) => {
        for (const raw of raws) this.#addRaw(reader, raw)
      })
    const onEnd = (read: number, failed: number): void => {
      if (read === 0) return
      if (failed === 0) this.#rewrite(journal)
      const { pending, queued } = this.#totals
      log.info('transactions restored from the journal of the pool', { pending, queued, skipped: read - pending - queued })
    }
    this.#restore = new PoolRestore({ clock, log, raws: journal.load(), add, onEnd })
    return this.#restore
  }

  /** Applies a new head: removes included transactions, checks changed accounts again, and restores transactions that an unwind removed. */
  onPublished(record: HeadRecord): void {
    const { unsafe } = record.heads
    const before = this.#head
    if (before?.hash === unsafe.hash) return
    this.#head = unsafe
    this.#facts = undefined
    this.#eviction = undefined
    const blocks = before && blocksAbove(record, before)
    this.#change((reader) => {
      if (blocks) this.#advance(reader, blocks)
      else this.#rebase(reader, before?.hash)
      this.#keepToCap(unsafe.timestamp)
      this.#expire()
    })
    this.#compact()
  }

  /** Removes transactions, also from the journal. Later ones of their senders become queued. @returns the hashes of the removed ones */
  remove(what: PoolRemoval): readonly Hash[] {
    this.#restore?.finish()
    return this.#change(() => {
      const removed = this.#wanted(what)
      for (const entry of removed) this.#remove(entry, 'dropped')
      if (this.#journal && removed.length > 0) this.#rewrite(this.#journal)
      return removed.map(({ hash }) => hash)
    })
  }

  #wanted(what: PoolRemoval): readonly PoolEntry[] {
    switch (what.kind) {
      case 'transaction':
        return [this.#byHash.get(what.hash)].filter((entry) => entry !== undefined)
      case 'sender':
        return [...(this.#queues.get(what.sender)?.entries ?? [])]
      case 'all':
        return [...this.#byHash.values()]
    }
  }

  /** Runs one change of the pool and then notifies the listeners once, if transactions became pending. */
  #change<T>(run: (reader: HeadReader) => T): T {
    this.#totals.nowMs = this.#deps.clock.elapsedMs()
    const { last } = this.#totals
    try {
      using reader = new HeadReader(this.#deps.view)
      return run(reader)
    } finally {
      if (last.next) for (const listener of [...this.#listeners]) listener()
    }
  }

  #addRaw(reader: HeadReader, given: Uint8Array): PoolOutcome {
    const { maxTransactionBytes } = this.#limits
    // a copy, so that the pool does not retain a larger buffer
    const raw = given.length === given.buffer.byteLength || given.length > maxTransactionBytes ? given : given.slice()
    const decoded = decodePooled(raw, maxTransactionBytes)
    if ('kind' in decoded) return { kind: 'refused', refusal: decoded }
    const hash = hashTransaction(raw)
    if (this.#byHash.has(hash)) return { kind: 'known', hash }
    const refusal = this.#admit(reader, raw, hash, decoded.tx, () => this.#deps.senders.of(decoded.tx, hash))
    return refusal ? { kind: 'refused', refusal } : { kind: 'added', hash }
  }

  /** Adds a transaction that is not in the pool. @returns why it is refused; then nothing has changed */
  #admit(
    reader: HeadReader,
    raw: Uint8Array,
    hash: Hash,
    tx: SignedTransaction,
    senderOf: () => Address | undefined,
  ): PoolRefusal | undefined {
    const { config } = this.#deps
    this.#facts ??= reader.facts(config)
    const facts = this.#facts
    const alone = refuseAlone(tx, facts, BigInt(config.l2ChainId), this.#limits.minTip)
    if (alone) return alone
    const sender = senderOf()
    if (sender === undefined) return { kind: 'signature' }
    const queue = this.#queues.get(sender) ?? this.#newQueue(sender, reader.account(sender))
    const { feeWei, sizeBytes } = facts.dataOf(raw)
    const costWei = tx.gasLimit * feeCapOf(tx) + tx.value + feeWei + facts.operatorFeeOf(tx)
    const refused = refuseOfSender(tx, queue, costWei, this.#limits)
    if (refused) return refused
    const entry = newEntry({ hash, sender, raw, tx, sizeBytes }, costWei, this.#arrivals)
    const refusal = this.#makeRoom(queue, entry, facts.baseFee)
    if (refusal) return refusal
    this.#arrivals++
    this.#put(queue, entry)
    return undefined
  }

  #newQueue(sender: Address, account: SenderAccount): SenderQueue {
    return new SenderQueue(sender, keccak256(fromHex(sender)), account, this.#totals)
  }

  #put(queue: SenderQueue, entry: PoolEntry): void {
    this.#queues.set(queue.address, queue)
    const replaced = queue.put(entry)
    this.#byHash.set(entry.hash, entry)
    if (replaced) this.#forget(replaced, 'replaced')
    this.#eviction?.changed(queue)
  }

  /** Evicts lower ranked transactions until there is room for a new one. Evicts nothing when there would not be enough room. */
  #makeRoom(queue: SenderQueue, entry: PoolEntry, baseFee: bigint): PoolRefusal | undefined {
    const { nonce } = entry.tx
    const { maxBytes, maxAccountBytes } = this.#limits
    const growth = entry.heldBytes - (queue.at(nonce)?.heldBytes ?? 0)
    const later = queue.lastAfter(nonce, queue.heldBytes + growth - maxAccountBytes)
    if (later === undefined) return { kind: 'account-full' }
    let wanted = this.#totals.heldBytes + growth - maxBytes
    for (const { heldBytes } of later) wanted -= heldBytes
    if (wanted > 0) {
      this.#eviction ??= new Eviction(this.#queues, baseFee)
      const worth = worthBehind(entry, queue.entries[queue.placeOf(nonce) - 1], baseFee)
      const newcomer = { queue, nonce, isPending: queue.wouldBePending(nonce), worth, spared: later.length }
      const plan = this.#eviction.plan(wanted, newcomer)
      if (plan === undefined) return { kind: 'pool-full' }
      for (const candidate of plan) this.#remove(candidate, 'evicted')
    }
    for (const own of later) this.#remove(own, 'evicted')
    return undefined
  }

  /** Removes a transaction if it is in the pool. */
  #remove(entry: PoolEntry, reason: RemovalReason): void {
    const queue = this.#queues.get(entry.sender)
    if (queue === undefined || this.#byHash.get(entry.hash) !== entry) return
    queue.remove(entry)
    this.#forget(entry, reason)
    this.#afterRemoval(queue)
  }

  #afterRemoval(queue: SenderQueue): void {
    if (queue.entries.length === 0) this.#queues.delete(queue.address)
    else this.#eviction?.changed(queue)
  }

  #forget(entry: PoolEntry, reason: RemovalReason): void {
    this.#byHash.delete(entry.hash)
    count(this.#removals, reason)
  }

  #discard({ hash }: PoolCandidate): void {
    const entry = this.#byHash.get(hash)
    if (entry) this.#remove(entry, 'unusable')
  }

  /** Applies new blocks on the previous head. Checks only the accounts that they changed. */
  #advance(reader: HeadReader, blocks: readonly ExecutedBlock[]): void {
    const included = new Set<Hash>()
    if (this.#byHash.size > 0) for (const { executed } of blocks) for (const { hash } of executed) included.add(hash)
    for (const queue of [...this.#queues.values()]) {
      const account = blocks.length > maxDiffs ? reader.account(queue.address) : changedAccount(reader, queue, blocks)
      if (account) this.#settle(queue, account, included)
    }
  }

  #settle(queue: SenderQueue, account: SenderAccount, included: ReadonlySet<Hash>): void {
    for (const entry of queue.settle(account)) this.#forget(entry, included.has(entry.hash) ? 'included' : 'superseded')
    this.#afterRemoval(queue)
  }

  /** Applies another branch, or an unknown distance from the previous head: reads all accounts, and restores unwound transactions. */
  #rebase(reader: HeadReader, before: Hash | undefined): void {
    const none = new Set<Hash>()
    for (const queue of [...this.#queues.values()]) this.#settle(queue, reader.account(queue.address), none)
    if (before === undefined) return
    const returned: Uint8Array[] = []
    for (const { transactions, senders } of reader.unwound(before, this.#limits.maxBytes)) {
      for (const [i, raw] of transactions.entries()) if (this.#returns(reader, raw, senders[i])) returned.push(raw)
    }
    this.#journal?.append(returned)
    if (returned.length > 0) this.#deps.log.info('transactions of unwound blocks restored', { count: returned.length })
  }

  #returns(reader: HeadReader, shared: Uint8Array, sender: Address | undefined): boolean {
    if (shared[0] === depositType) return false
    const raw = shared.slice()
    const decoded = decodePooled(raw, this.#limits.maxTransactionBytes)
    if ('kind' in decoded) return false
    const hash = hashTransaction(raw)
    return !this.#byHash.has(hash) && this.#admit(reader, raw, hash, decoded.tx, () => sender) === undefined
  }

  /** Removes transactions above the gas cap of a fork that has become active: no block can take them. */
  #keepToCap(headSec: number): void {
    const cap = transactionGasCap(evmRulesAt(this.#deps.config.schedule, headSec + 1))
    if (cap === this.#gasCap) return
    this.#gasCap = cap
    for (const entry of [...this.#byHash.values()]) if (cap !== undefined && entry.tx.gasLimit > cap) this.#remove(entry, 'unusable')
  }

  #expire(): void {
    const { nowMs } = this.#totals
    const { queuedLifetimeMs } = this.#limits
    if (nowMs < this.#nextExpiryMs) return
    this.#nextExpiryMs = nowMs + queuedLifetimeMs / expiryRounds
    const isOld = ({ place, queuedSinceMs }: PoolEntry): boolean => place === 'queued' && nowMs - queuedSinceMs > queuedLifetimeMs
    for (const entry of [...this.#byHash.values()].filter(isOld)) this.#remove(entry, 'expired')
  }

  #compact(): void {
    // until then the journal has transactions that are not in the pool
    const isRestored = this.#restore?.isOver ?? true
    if (isRestored && this.#journal?.isMostlyDead(this.#totals.rawBytes)) this.#rewrite(this.#journal)
  }

  #rewrite(journal: PoolJournal): void {
    journal.rewrite([...this.#queues.values()].flatMap(({ entries }) => entries.map(({ raw }) => raw)))
  }
}

function count<K extends string>(counts: Partial<Record<K, number>>, kind: K): void {
  counts[kind] = (counts[kind] ?? 0) + 1
}

/** Creates an empty pool. */
export function createTxPool(deps: TxPoolDeps, limits: TxPoolLimits = {}): TxPool {
  return new TxPool(deps, limits)
}

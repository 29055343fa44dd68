import type { SendersAhead } from '#block/execution/senders'
import { fromHex, hexAt } from '#lib/hex'
import type { PackedBytes } from '#lib/packedBytes'
import type { Address } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'

/** Minimum transactions of a block whose senders are recovered ahead. Execution recovers fewer in less than half a millisecond. */
export const minTransactions = 8

/** States of an entry. An entry whose sender cannot be recovered stays claimed. */
const [free, claimed, done] = [0, 1, 2]
const [closedAt, readyAt, ownAt, nextAt] = [0, 1, 2, 3]
const headerInts = 4
const addressBytes = 20

/** Number of senders that a reader found in a table, and number of senders that it had to recover itself. */
export type SenderCounts = { readonly ready: number; readonly own: number }

/**
 * Senders of the transactions of one block in shared memory: a state and an address for each. Sender threads fill it while the execution thread reads
 * it. Each entry is claimed once, by one compare-and-exchange, and no thread waits for another.
 */
export class SenderTable implements SendersAhead, Disposable {
  readonly memory: SharedArrayBuffer
  readonly #header: Int32Array
  readonly #states: Int32Array
  readonly #addresses: Uint8Array
  readonly #onClosed: ((counts: SenderCounts) => void) | undefined

  constructor(memory: SharedArrayBuffer, onClosed?: (counts: SenderCounts) => void) {
    const count = (memory.byteLength - 4 * headerInts) / (4 + addressBytes)
    this.memory = memory
    this.#onClosed = onClosed
    this.#header = new Int32Array(memory, 0, headerInts)
    this.#states = new Int32Array(memory, 4 * headerInts, count)
    this.#addresses = new Uint8Array(memory, 4 * (headerInts + count))
  }

  /** @param onClosed called with the final counts */
  static create(count: number, onClosed?: (counts: SenderCounts) => void): SenderTable {
    return new SenderTable(new SharedArrayBuffer(4 * headerInts + (4 + addressBytes) * count), onClosed)
  }

  /** Returns the sender if it is known. Otherwise claims the entry, so that sender threads skip it. Called at most once for each transaction, in order. */
  at(index: number): Address | undefined {
    Atomics.store(this.#header, nextAt, index + 1)
    const isReady = Atomics.compareExchange(this.#states, index, free, claimed) === done
    Atomics.add(this.#header, isReady ? readyAt : ownAt, 1)
    return isReady ? (hexAt(this.#addresses, addressBytes * index, addressBytes) as Address) : undefined
  }

  /** Index of the next transaction that execution reads; 0 before the first. */
  get next(): number {
    return Atomics.load(this.#header, nextAt)
  }

  /** Takes an entry for a sender thread. @returns false when another thread has it */
  claim(index: number): boolean {
    return Atomics.compareExchange(this.#states, index, free, claimed) === free
  }

  /** Writes the sender of a claimed entry. */
  settle(index: number, sender: Address): void {
    this.#addresses.set(fromHex(sender), addressBytes * index)
    Atomics.store(this.#states, index, done)
  }

  /** Ends the work of the sender threads on this table. */
  [Symbol.dispose](): void {
    Atomics.store(this.#header, closedAt, 1)
    this.#onClosed?.({ ready: Atomics.load(this.#header, readyAt), own: Atomics.load(this.#header, ownAt) })
  }

  get isClosed(): boolean {
    return Atomics.load(this.#header, closedAt) === 1
  }
}

/** Returns the table that a client sent with a call. */
export const sendersIn = (memory: SharedArrayBuffer | undefined): SendersAhead | undefined => memory && new SenderTable(memory)

/** Entries ahead of execution that it reaches before another thread could recover their senders: a plain transfer runs in half that time. */
const tooNear = 2
/** Entries by which another thread jumps ahead when execution catches up with it. Execution recovers those between. */
const lead = 8

/** Maximum bytes of a transaction that a sender thread decodes: those of a transaction in a pool. Decoding takes many times as much memory. */
const maxTransactionBytes = 128 * 1024

/**
 * Recovers the senders of a block in order and stays ahead of execution. Skips entries that another thread has claimed. Execution alone decides about
 * deposits, large transactions, undecodable bytes and invalid signatures.
 * @param isStopped called before each transaction; true ends the work
 * @param onRecovered called after a sender is in the table
 */
export function recoverSenders(
  table: SenderTable,
  { bytes, ends }: PackedBytes<SharedArrayBuffer>,
  isStopped: () => boolean,
  onRecovered?: (sender: Address, tx: SignedTransaction) => void,
): void {
  for (let index = 0; ; index++) {
    const { next } = table
    if (next > 0 && index < next + tooNear) index = next + lead
    if (index >= ends.length || table.isClosed || isStopped()) return
    const end = ends[index] ?? 0
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0)
    if (bytes[start] === depositType || end - start > maxTransactionBytes || !table.claim(index)) continue
    // decoding rejects shared bytes
    const signed = signedIn(bytes.slice(start, end))
    if (signed === undefined) continue
    table.settle(index, signed.sender)
    onRecovered?.(signed.sender, signed.tx)
  }
}

/** Returns a signed transaction and its sender; undefined when execution has to decide. */
function signedIn(raw: Uint8Array): { readonly tx: SignedTransaction; readonly sender: Address } | undefined {
  try {
    const tx = decodeTransaction(raw)
    if (tx.type === depositType) return undefined
    const sender = recoverSender(tx)
    return sender && { tx, sender }
  } catch {
    return undefined
  }
}

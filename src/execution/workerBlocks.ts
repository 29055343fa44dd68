import type { Block } from '#types/block'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { Receipt } from '#types/receipt'
import type { StateDiff } from '#types/stateDiff'
import { StateDiffTable } from '#types/stateDiffTable'
import type { ExecutedBlock, ExecutedTransaction } from './executedBlock.ts'

/** Byte strings one after the other, in buffers of their own: two objects to move between threads, however many strings. */
export type PackedBytes = { readonly bytes: Uint8Array<ArrayBuffer>; readonly ends: Uint32Array<ArrayBuffer> }

/** A payload, or attributes, with packed transactions: a view of a large buffer would otherwise take all of that buffer along. */
export type Packed<T extends { readonly transactions: readonly Uint8Array[] }> = Omit<T, 'transactions'> & {
  readonly transactions: PackedBytes
}

type TrieChanges = ExecutedBlock['trie']

/** An executed block as it goes from thread to thread; its diff is shared, not copied. */
export type PackedBlock = {
  readonly hash: Hash
  readonly header: Header
  readonly transactions: PackedBytes
  readonly executed: readonly ExecutedTransaction[]
  readonly diff: SharedArrayBuffer
  readonly root: Hash
  /** three strings a node: owner (empty: the account trie), path, node (empty: removed) */
  readonly nodes: PackedBytes
  readonly storageRoots: TrieChanges['storageRoots']
}

const none = new Uint8Array(0)

export function packBytes(list: readonly Uint8Array[]): PackedBytes {
  const ends = new Uint32Array(list.length)
  let size = 0
  for (const [i, { length }] of list.entries()) {
    size += length
    ends[i] = size
  }
  const bytes = new Uint8Array(size)
  for (const [i, item] of list.entries()) bytes.set(item, (ends[i] ?? 0) - item.length)
  return { bytes, ends }
}

/** The strings again, as views of the one buffer. */
export function unpackBytes({ bytes, ends }: PackedBytes): Uint8Array[] {
  return Array.from(ends, (end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
}

/** The same bytes with no others around them. */
const alone = (bytes: Uint8Array): Uint8Array => (bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice())

/** Every byte string of the object on its own; the object itself when all are. */
function aloneIn<T extends object>(object: T): T {
  const views = Object.entries(object).filter(([, value]) => value instanceof Uint8Array && alone(value) !== value)
  return views.length === 0 ? object : { ...object, ...Object.fromEntries(views.map(([key, value]) => [key, alone(value)])) }
}

export const packPayload = (payload: Payload): Packed<Payload> => ({
  ...aloneIn(payload),
  transactions: packBytes(payload.transactions),
})
export const packAttributes = (attributes: PayloadAttributes): Packed<PayloadAttributes> => ({
  ...aloneIn(attributes),
  transactions: packBytes(attributes.transactions),
})
export function unpack<T extends { readonly transactions: readonly Uint8Array[] }>(packed: Packed<T>): T {
  return { ...packed, transactions: unpackBytes(packed.transactions) } as unknown as T
}

function packReceipt(receipt: Receipt): Receipt {
  const isWhole = receipt.logs.every((log) => aloneIn(log) === log)
  return aloneIn(isWhole ? receipt : { ...receipt, logs: receipt.logs.map(aloneIn) })
}

/** Cost: O(bytes of transactions and trie nodes); receipts are cloned by the platform when the block is sent. */
export function packBlock({ hash, header, transactions, executed, diff, trie }: ExecutedBlock): PackedBlock {
  return {
    hash,
    header: aloneIn(header),
    transactions: packBytes(transactions),
    executed: executed.map((transaction) => ({ ...transaction, receipt: packReceipt(transaction.receipt) })),
    diff: diff.bytes,
    root: trie.root,
    nodes: packBytes(trie.nodes.flatMap(({ owner, path, node }) => [owner ?? none, path, node ?? none])),
    storageRoots: trie.storageRoots,
  }
}

/** What may be moved instead of copied when the block is sent. */
export function buffersOf({ transactions, nodes }: PackedBlock): ArrayBuffer[] {
  return [transactions.bytes.buffer, transactions.ends.buffer, nodes.bytes.buffer, nodes.ends.buffer]
}

/** A block that another thread executed; its parts are unpacked when they are asked for. */
class MirroredBlock implements ExecutedBlock {
  readonly hash: Hash
  readonly header: Header
  readonly executed: readonly ExecutedTransaction[]
  readonly #packed: PackedBlock
  #transactions: Block['transactions'] | undefined
  #diff: StateDiff | undefined
  #trie: TrieChanges | undefined

  constructor(packed: PackedBlock) {
    this.hash = packed.hash
    this.header = packed.header
    this.executed = packed.executed
    this.#packed = packed
  }

  get transactions(): Block['transactions'] {
    this.#transactions ??= unpackBytes(this.#packed.transactions)
    return this.#transactions
  }

  get diff(): StateDiff {
    this.#diff ??= new StateDiffTable(this.#packed.diff)
    return this.#diff
  }

  get trie(): TrieChanges {
    this.#trie ??= unpackTrie(this.#packed)
    return this.#trie
  }
}

function unpackTrie({ root, nodes, storageRoots }: PackedBlock): TrieChanges {
  const parts = unpackBytes(nodes)
  const changes: TrieChanges['nodes'][number][] = []
  for (let i = 0; i < parts.length; i += 3) {
    const [owner = none, path = none, node = none] = parts.slice(i, i + 3)
    changes.push({ owner: owner.length === 0 ? undefined : owner, path, node: node.length === 0 ? null : node })
  }
  return { root, nodes: changes, storageRoots }
}

export function unpackBlock(packed: PackedBlock): ExecutedBlock {
  return new MirroredBlock(packed)
}

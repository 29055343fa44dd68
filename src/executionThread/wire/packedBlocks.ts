import { deserialize, serialize } from 'node:v8'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { fromHex, hexAt } from '#lib/hex'
import { type PackedBytes, shareBytes, sharedBytes, unpackBytes } from '#lib/packedBytes'
import { TrieDiff } from '#trie/trieDiff'
import type { Block } from '#types/block'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Flashblock } from '#types/flashblock'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { StateDiff } from '#types/stateDiff'
import { StateDiffTable } from '#types/stateDiffTable'

/**
 * A payload, or attributes, with packed transactions. They are shared: sender threads read them too, and posting a view would copy its whole
 * underlying buffer.
 */
export type Packed<T extends { readonly transactions: readonly Uint8Array[] }> = Omit<T, 'transactions'> & {
  readonly transactions: PackedBytes<SharedArrayBuffer>
}

type TrieChanges = ExecutedBlock['trie']

/** An executed block as it crosses threads. Packed once for all readers: everything except its header is shared, not copied. */
export type PackedBlock = {
  readonly hash: Hash
  readonly header: Header
  readonly transactions: PackedBytes<SharedArrayBuffer>
  /** transaction hashes, 32 bytes each */
  readonly hashes: Uint8Array<SharedArrayBuffer>
  /** list of `ExecutedTransaction`s in the format of `v8.serialize` */
  readonly executed: Uint8Array<SharedArrayBuffer>
  readonly diff: SharedArrayBuffer
  readonly root: Hash
  readonly nodes: SharedArrayBuffer
  readonly storageRoots: TrieChanges['storageRoots']
}

const hashBytes = 32

export function shared(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = sharedBytes(bytes.length)
  copy.set(bytes)
  return copy
}

/** Returns the same bytes in a buffer of exactly their length. */
export const alone = (bytes: Uint8Array): Uint8Array => (bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice())

/** Gives every byte string of an object a buffer of its own; returns the object itself when nothing changes. */
export function aloneIn<T extends object>(object: T): T {
  const views = Object.entries(object).filter(([, value]) => value instanceof Uint8Array && alone(value) !== value)
  return views.length === 0 ? object : { ...object, ...Object.fromEntries(views.map(([key, value]) => [key, alone(value)])) }
}

export const packPayload = (payload: Payload): Packed<Payload> => ({
  ...aloneIn(payload),
  transactions: shareBytes(payload.transactions),
})
export const packAttributes = (attributes: PayloadAttributes): Packed<PayloadAttributes> => ({
  ...aloneIn(attributes),
  transactions: shareBytes(attributes.transactions),
})
/** @param flashblock with or without its block number */
export const packFlashblock = <F extends Omit<Flashblock, 'blockNumber'>>(flashblock: F): Packed<F> => ({
  ...flashblock,
  ...(flashblock.base && { base: aloneIn(flashblock.base) }),
  outcome: aloneIn(flashblock.outcome),
  transactions: shareBytes(flashblock.transactions),
})
export function unpack<T extends { readonly transactions: readonly Uint8Array[] }>(packed: Packed<T>): T {
  return { ...packed, transactions: unpackBytes(packed.transactions) } as unknown as T
}

function shareHashes(executed: readonly ExecutedTransaction[]): Uint8Array<SharedArrayBuffer> {
  const bytes = sharedBytes(hashBytes * executed.length)
  for (const [i, { hash }] of executed.entries()) bytes.set(fromHex(hash), hashBytes * i)
  return bytes
}

/** Packs a block in O(bytes of transactions and receipts). */
export function packBlock({ hash, header, transactions, executed, diff, trie }: ExecutedBlock): PackedBlock {
  return {
    hash,
    header: aloneIn(header),
    transactions: shareBytes(transactions),
    hashes: shareHashes(executed),
    executed: shared(serialize(executed)),
    diff: diff.bytes,
    root: trie.root,
    nodes: trie.nodes.buffer,
    storageRoots: trie.storageRoots,
  }
}

/** Returns the bytes that stay in memory until a message with the block is taken. */
export const packedBytes = ({ transactions, hashes, executed, diff, nodes }: PackedBlock): number =>
  transactions.bytes.length + hashes.length + executed.length + diff.byteLength + nodes.byteLength

/** A block that another thread executed; its parts are unpacked on first access. */
class MirroredBlock implements ExecutedBlock {
  readonly hash: Hash
  readonly header: Header
  readonly trie: TrieChanges
  readonly #packed: PackedBlock
  #executed: readonly ExecutedTransaction[] | undefined
  #transactions: Block['transactions'] | undefined
  #diff: StateDiff | undefined

  constructor(packed: PackedBlock) {
    this.hash = packed.hash
    this.header = packed.header
    this.trie = { root: packed.root, nodes: new TrieDiff(packed.nodes), storageRoots: packed.storageRoots }
    this.#packed = packed
  }

  get transactions(): Block['transactions'] {
    this.#transactions ??= unpackBytes(this.#packed.transactions)
    return this.#transactions
  }

  get transactionHashes(): readonly Hash[] {
    const { hashes } = this.#packed
    return Array.from({ length: hashes.length / hashBytes }, (_, i) => hexAt(hashes, hashBytes * i, hashBytes) as Hash)
  }

  get executed(): readonly ExecutedTransaction[] {
    this.#executed ??= deserialize(this.#packed.executed.slice()) as readonly ExecutedTransaction[]
    return this.#executed
  }

  get diff(): StateDiff {
    this.#diff ??= new StateDiffTable(this.#packed.diff)
    return this.#diff
  }
}

export function unpackBlock(packed: PackedBlock): ExecutedBlock {
  return new MirroredBlock(packed)
}

import { concatBytes, emptyBytes, equalBytes, u32At } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type PackedBytes, unpackBytes } from '#lib/packedBytes'
import { RlpError } from '#lib/rlp'
import type { KvWriter } from '#store/ports'
import { decodeNode, type NodeRef, type TrieNode } from '#trie/node'
import { stepTo } from '#trie/readTrie'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { decodeAccount, decodeAccountRow } from './account.ts'
import { eachChild, putNode } from './enteredNodes.ts'
import { storedNode } from './partialState.ts'
import { lowestWith } from './rowState.ts'
import { accountsTable, codeTable, nodeKey, storageTable } from './rows.ts'

/** What a block reads from a state, as a source sent it: nothing of it is verified. Threads share its bytes. */
export type BlockWitness = {
  /** root of the state before the block, as far as the caller knows */
  readonly stateRoot: Hash
  /** RLP of trie nodes */
  readonly nodes: PackedBytes<SharedArrayBuffer>
  readonly codes: PackedBytes<SharedArrayBuffer>
}

/** Most places of a node, on average: accounts can have the same storage, and hostile nodes can have any number of equal children. */
const mostPlaces = 16
const keyNibbles = 64

/** Strings by their keccak: an open hash table, because most references of a node lead to no string. */
class ByHash {
  readonly #strings: readonly Uint8Array[]
  readonly #hashes: readonly Uint8Array[]
  /** pairs of the first word of a hash, and its place plus one; 0: empty */
  readonly #table: Uint32Array

  constructor(strings: readonly Uint8Array[]) {
    this.#strings = strings
    this.#hashes = strings.map(keccak256)
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(4 * strings.length + 4)))
    for (const [place, hash] of this.#hashes.entries()) {
      const word = u32At(hash, 0)
      let at = this.#slot(word)
      while (this.#table[at + 1] !== 0) at = this.#slot(at / 2 + 1)
      this.#table[at] = word
      this.#table[at + 1] = place + 1
    }
  }

  get(ref: NodeRef): Uint8Array | undefined {
    if (ref.length !== 32) return undefined
    const word = u32At(ref, 0)
    for (let at = this.#slot(word); this.#table[at + 1] !== 0; at = this.#slot(at / 2 + 1)) {
      const place = (this.#table[at + 1] as number) - 1
      if (this.#table[at] === word && equalBytes(this.#hashes[place] as Uint8Array, ref)) return this.#strings[place]
    }
    return undefined
  }

  get size(): number {
    return this.#strings.length
  }

  #slot(number: number): number {
    return (2 * number) & (this.#table.length - 1)
  }
}

/** A place in a trie: owner and path as in `NodeSource`. */
type Place = { readonly owner: Uint8Array | undefined; readonly path: Uint8Array }

/**
 * Walks from the state root of a witness and from that of the latest state, place by place. Where both have the same reference, the witness's node belongs to
 * the latest state, and so do all below it.
 */
class WitnessWriter {
  readonly #tx: KvWriter
  readonly #nodes: ByHash
  /** hashes of the codes of the latest state's accounts */
  readonly #codeHashes = new Set<Hash>()
  readonly #isGiven = (ref: NodeRef): boolean => this.#nodes.get(ref) !== undefined
  #visits = 0

  constructor(tx: KvWriter, nodes: ByHash) {
    this.#tx = tx
    this.#nodes = nodes
  }

  begin(stateRoot: Hash): ReadonlySet<Hash> {
    const { table, key } = nodeKey(undefined, emptyBytes)
    const top = this.#tx.get(table, key)
    if (top) this.#visit({ owner: undefined, path: emptyBytes }, fromHex(stateRoot), keccak256(top), false)
    return this.#codeHashes
  }

  /** @param own reference of the latest state at this place @param isUnknown the node above was not stored, so that nothing below it is */
  #visit(place: Place, given: NodeRef, own: NodeRef | undefined, isUnknown: boolean): void {
    const rlp = this.#nodes.get(given)
    if (rlp === undefined || ++this.#visits > mostPlaces * this.#nodes.size) return
    const node = nodeOf(rlp, place.path.length)
    if (node === undefined) return
    const isSame = own !== undefined && equalBytes(given, own)
    const isNew = isSame && (isUnknown || !this.#isStored(place, node))
    if (isNew) putNode(this.#tx, place.owner, place.path, rlp, node)
    if (node.kind === 'leaf') this.#leaf(place, node)
    else if (isSame)
      eachChild(node, place.path, this.#isGiven, (path, child) => this.#visit({ owner: place.owner, path }, child, child, isNew))
    else this.#differing(place, node)
  }

  /** Visits the children of a node that the latest state does not have at this place. */
  #differing(place: Place, node: TrieNode): void {
    const stored = storedNode(this.#tx, place.owner, place.path)
    const { owner } = place
    eachChild(node, place.path, this.#isGiven, (path, child) =>
      this.#visit({ owner, path }, child, stored && this.#refBelow(place, stored, path), false),
    )
  }

  /** Visits the storage of an account that the latest state has. */
  #leaf({ owner, path }: Place, node: TrieNode & { kind: 'leaf' }): void {
    const account = owner ? undefined : accountIn(node)
    if (account === undefined) return
    const key = lowestWith(concatBytes(path, node.path))
    const row = this.#tx.get(accountsTable, key)
    if (row === undefined) return
    const { storageRoot, codeHash } = decodeAccountRow(row)
    if (codeHash !== emptyCodeHash) this.#codeHashes.add(codeHash)
    if (storageRoot === emptyRoot || account.storageRoot === emptyRoot) return
    this.#visit({ owner: key, path: emptyBytes }, fromHex(account.storageRoot), fromHex(storageRoot), false)
  }

  #isStored({ owner, path }: Place, node: TrieNode): boolean {
    if (node.kind !== 'leaf') return storedNode(this.#tx, owner, path) !== undefined
    const key = lowestWith(concatBytes(path, node.path))
    return this.#tx.get(owner ? storageTable : accountsTable, owner ? concatBytes(owner, key) : key) !== undefined
  }

  /** Returns the latest state's reference at a path below a stored node. */
  #refBelow({ owner, path: { length } }: Place, top: TrieNode, path: Uint8Array): NodeRef | undefined {
    for (let [node, depth]: [TrieNode | undefined, number] = [top, length]; node; ) {
      const step = stepTo(node, path, depth)
      if (step === undefined || 'value' in step) return undefined
      depth = step.depth
      if (depth === path.length) return step.child
      node = step.child.length === 32 ? storedNode(this.#tx, owner, path.subarray(0, depth)) : decodeNode(step.child)
    }
    return undefined
  }
}

/** Returns a node that fits its depth; undefined for other bytes. */
function nodeOf(rlp: Uint8Array, depth: number): TrieNode | undefined {
  const node = tryRlp(() => decodeNode(rlp))
  if (node?.kind === 'leaf') return depth + node.path.length === keyNibbles ? node : undefined
  return node && depth + (node.kind === 'extension' ? node.path.length : 0) < keyNibbles ? node : undefined
}

const accountIn = (leaf: TrieNode & { kind: 'leaf' }): Account | undefined => tryRlp(() => decodeAccount(leaf.value))

function tryRlp<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RlpError) return undefined
    throw error
  }
}

/**
 * Adds those parts of a witness to the latest state that hashes tie to it. The witness may be of a later state: what has not changed in between is the same in
 * both. Codes count when an account of the latest state has them.
 */
export function enterWitness(tx: KvWriter, { stateRoot, nodes, codes }: BlockWitness): void {
  const named = new WitnessWriter(tx, new ByHash(unpackBytes(nodes))).begin(stateRoot)
  for (const code of unpackBytes(codes)) {
    const hash = keccak256(code)
    if (named.has(hashFromBytes(hash)) && tx.get(codeTable, hash) === undefined) tx.put(codeTable, hash, code)
  }
}

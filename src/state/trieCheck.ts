import { compareBytes, concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import { afterPrefix } from '#store/keys'
import type { KvReader, Row } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { tables } from '#store/tables'
import { nibblesOf } from '#trie/nibbles'
import { childOf, decodeNode, type NodeRef, type TrieNode } from '#trie/node'
import type { RowCursor } from './rowCursor.ts'
import { leafRlp, lowestWith, pathAfter } from './rowState.ts'
import { nodeKey } from './rows.ts'

const keyBytes = 32
/** Rows that are compared with the hash of a leaf. With this many rows below a path and no match, a node is missing there. */
const mostLeafRows = 16

export type CheckedTrie = {
  readonly reader: KvReader
  /** Undefined for the account trie. */
  readonly owner: Uint8Array | undefined
  /** Flat rows of all tries of the kind. */
  readonly flat: RowCursor
  /** Node rows of all tries of the kind. */
  readonly nodes: RowCursor
  /** Rows below this key are checked already. */
  readonly from: Uint8Array | undefined
  readonly watch: CheckWatch
  /** True when the check must end before the next leaf. */
  isDue(): boolean
  /** Called with each verified row, which it counts; false ends the check at this row. */
  onLeaf(key: Uint8Array, row: Uint8Array): boolean
  /** Called with each subtree that cannot be checked, because its top is damaged. */
  onSkip(path: Uint8Array): void
}

/**
 * Check of one trie from its root hash down: each node row has the hash in its parent, each leaf is the encoding of the one flat row below its path,
 * and no other rows exist. Paths ascend, so the flat rows are read in key order; node rows are in the order in which their subtrees end.
 */
export class TrieCheck {
  readonly #trie: CheckedTrie
  readonly #prefix: Uint8Array
  readonly #fromPath: Uint8Array | undefined
  readonly #flatTable: string
  readonly #nodeTable: string
  /** The key at which the check ended early. */
  stoppedAt: Uint8Array | undefined

  constructor(trie: CheckedTrie) {
    this.#trie = trie
    this.#prefix = trie.owner ?? emptyBytes
    this.#fromPath = trie.from && nibblesOf(trie.from)
    this.#flatTable = trie.owner ? tables.storage.name : tables.accounts.name
    this.#nodeTable = trie.owner ? tables.storageNodes.name : tables.accountNodes.name
  }

  /** @returns false when it ended early, at `stoppedAt` */
  check(root: Uint8Array): boolean {
    return this.#visit(emptyBytes, root)
  }

  #visit(path: Uint8Array, ref: NodeRef): boolean {
    if (this.#fromPath && compareBytes(path, this.#fromPath.subarray(0, path.length)) < 0) return true
    if (ref.length !== 32) return this.#below(path, decodeNode(ref), ref)
    const { table, key } = nodeKey(this.#trie.owner, path)
    const rlp = this.#trie.reader.get(table, key)
    if (rlp === undefined) return this.#leaf(path, ref)
    const hash = keccak256(rlp)
    if (!equalBytes(hash, ref)) {
      this.#passTo(path)
      this.#report(this.#nodeTable, key, `a node with hash ${toHex(ref)}`, `a node with hash ${toHex(hash)}`)
      return this.#skip(path)
    }
    const node = decodeNode(rlp)
    if (!this.#below(path, node, ref)) return false
    // a row of a leaf stays in place, and is reported as one without a reference
    if (node.kind !== 'leaf') this.#trie.nodes.take(key)
    return true
  }

  #below(path: Uint8Array, node: TrieNode, ref: NodeRef): boolean {
    if (node.kind === 'leaf') return this.#leaf(path, ref)
    if (node.kind === 'extension') return this.#visit(concatBytes(path, node.path), node.child)
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = childOf(node, nibble)
      if (child !== undefined && !this.#visit(concatBytes(path, Uint8Array.of(nibble)), child)) return false
    }
    return true
  }

  #leaf(path: Uint8Array, ref: NodeRef): boolean {
    const { flat, watch } = this.#trie
    this.#passTo(path)
    if (this.#trie.isDue()) {
      this.stoppedAt = new Uint8Array(keyBytes)
      this.stoppedAt.set(lowestWith(path))
      return false
    }
    const others: Row[] = []
    const match = this.#takeRows(path, ref, others)
    if (match === undefined && others.length > 1) {
      const { key } = nodeKey(this.#trie.owner, path)
      this.#report(this.#nodeTable, key, `a node with hash ${toHex(ref)}`, 'no row')
      return this.#skip(path)
    }
    if (match === undefined) {
      watch.onRow()
      this.#reportLeaf(path, ref, others[0])
      return this.#skip(path)
    }
    for (const { key } of others) flat.reportExtra(key)
    return this.#trie.onLeaf(match.key.subarray(this.#prefix.length), match.value)
  }

  /** Takes the flat rows below the path of a leaf. @returns the row with the hash; the others are appended to `others` */
  #takeRows(path: Uint8Array, ref: NodeRef, others: Row[]): Row | undefined {
    const { flat } = this.#trie
    const end = this.#flatEnd(path)
    let match: Row | undefined
    while (flat.row !== undefined && (end === undefined || compareBytes(flat.row.key, end) < 0) && others.length < mostLeafRows) {
      const rlp = this.#leafOf(path, flat.row)
      if (rlp !== undefined && equalBytes(refOf(rlp), ref)) match = flat.row
      else others.push(flat.row)
      flat.next()
    }
    return match
  }

  #leafOf(path: Uint8Array, { key, value }: Row): Uint8Array | undefined {
    try {
      return leafRlp(this.#trie.owner, key.subarray(this.#prefix.length), path.length, value)
    } catch (error) {
      if (error instanceof RlpError) return undefined
      throw error
    }
  }

  #reportLeaf(path: Uint8Array, ref: NodeRef, row: Row | undefined): void {
    const expected = `a row whose leaf has hash ${toHex(ref)}`
    if (row === undefined) {
      this.#report(
        this.#flatTable,
        concatBytes(this.#prefix, lowestWith(path)),
        expected,
        `no row that begins with ${path.length} of these digits`,
      )
      return
    }
    const rlp = this.#leafOf(path, row)
    this.#report(
      this.#flatTable,
      row.key,
      expected,
      rlp ? `a row whose leaf has hash ${toHex(refOf(rlp))}` : 'a row that cannot be decoded',
    )
  }

  /** Passes the rows before a path. A leaf that a later state moved up may begin below `from`: its row is read again. */
  #passTo(path: Uint8Array): void {
    const { flat, nodes } = this.#trie
    const first = concatBytes(this.#prefix, lowestWith(path))
    if (this.#fromPath && equalBytes(path, this.#fromPath.subarray(0, path.length))) flat.seek(first)
    else flat.passTo(first)
    nodes.passTo(concatBytes(this.#prefix, path))
  }

  /** Leaves out the rows at and below a path. */
  #skip(path: Uint8Array): true {
    this.#trie.flat.seek(this.#flatEnd(path))
    this.#trie.nodes.seek(afterPrefix(concatBytes(this.#prefix, path)))
    this.#trie.onSkip(path)
    return true
  }

  #flatEnd(path: Uint8Array): Uint8Array | undefined {
    const next = pathAfter(path)
    return next ? concatBytes(this.#prefix, lowestWith(next)) : afterPrefix(this.#prefix)
  }

  #report(table: string, key: Uint8Array, expected: string, found: string): void {
    this.#trie.watch.report({ table, key: toHex(key), expected, found })
  }
}

const refOf = (rlp: Uint8Array): NodeRef => (rlp.length < 32 ? rlp : keccak256(rlp))

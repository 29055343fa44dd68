import type { StateView } from '#evm/ports'
import { padLeft } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { decodeRlp, rlpBytes } from '#lib/rlp'
import { loadNode, type TrieAt } from '#trie/loadNode'
import type { NodeRef, TrieNode } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import { walk } from '#trie/readTrie'
import type { Account } from '#types/account'
import { emptyRoot, type Hash } from '#types/ids'
import { decodeAccount } from './account.ts'

/** Values of a state that are read from its tries: hashes from the state root down prove each of them. Reads throw Fault MISSING_NODE, BAD_NODE. */
export class TrieView implements StateView {
  readonly #nodes: NodeSource
  readonly #root: Hash
  readonly #rest: Pick<StateView, 'code' | 'blockHash'>
  /** by hash */
  readonly #loaded = new Map<string, TrieNode>()
  readonly #accounts = new Map<string, Account | undefined>()

  /** @param rest reads what no trie has */
  constructor(nodes: NodeSource, root: Hash, rest: Pick<StateView, 'code' | 'blockHash'>) {
    this.#nodes = nodes
    this.#root = root
    this.#rest = rest
  }

  account(addressKey: Uint8Array): Account | undefined {
    const name = toHex(addressKey)
    if (this.#accounts.has(name)) return this.#accounts.get(name)
    const leaf = this.#read(undefined, this.#root, addressKey)
    const account = leaf && decodeAccount(leaf)
    this.#accounts.set(name, account)
    return account
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const leaf = this.#read(addressKey, this.account(addressKey)?.storageRoot ?? emptyRoot, slotKey)
    return leaf && padLeft(rlpBytes(decodeRlp(leaf), 'slot'), 32)
  }

  code(codeHash: Hash): Uint8Array {
    return this.#rest.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    return this.#rest.blockHash(number)
  }

  #read(owner: Uint8Array | undefined, root: Hash, key: Uint8Array): Uint8Array | undefined {
    const trie: TrieAt = { nodes: this.#nodes, owner, keyNibbles: 64 }
    return walk(trie, root, key, (at, path, ref, below) => this.#load(at, path, ref, below))
  }

  #load(trie: TrieAt, path: Uint8Array, ref: NodeRef, key: Uint8Array): TrieNode {
    if (ref.length !== 32) return loadNode(trie, path, ref)
    const name = toHex(ref)
    const known = this.#loaded.get(name)
    if (known) return known
    const node = loadNode(trie, path, ref, key)
    this.#loaded.set(name, node)
    return node
  }
}

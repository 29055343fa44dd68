import type { StateView } from '#evm/ports'
import { emptyBytes, equalBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, rlpBytes } from '#lib/rlp'
import { loadNode, type TrieAt } from '#trie/loadNode'
import type { NodeRef, TrieNode } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import { walk } from '#trie/readTrie'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { decodeAccount } from './account.ts'
import { stateFault } from './faults.ts'
import type { WorldState } from './worldState.ts'

/** Bytes by hash; each entry is verified on its first read. */
class Preimages implements NodeSource {
  readonly #bytes: ReadonlyMap<Hash, Uint8Array>
  readonly #verified = new Set<string>()

  constructor(bytes: ReadonlyMap<Hash, Uint8Array>) {
    this.#bytes = bytes
  }

  get(_owner: Uint8Array | undefined, _path: Uint8Array, hash: Uint8Array): Uint8Array {
    return this.of(toHex(hash) as Hash, hash)
  }

  of(hash: Hash, digest: Uint8Array): Uint8Array {
    const bytes = this.#bytes.get(hash)
    if (bytes === undefined) throw stateFault('WITNESS_INCOMPLETE', { hash })
    if (!this.#verified.has(hash)) {
      if (!equalBytes(keccak256(bytes), digest)) throw stateFault('WITNESS_INVALID', { hash })
      this.#verified.add(hash)
    }
    return bytes
  }
}

class WitnessView implements StateView {
  readonly #preimages: Preimages
  readonly #root: Hash
  readonly #blockHash: (number: number) => Hash | undefined
  readonly #nodes = new Map<string, TrieNode>()
  readonly #accounts = new Map<string, Account | undefined>()

  constructor(preimages: Preimages, root: Hash, blockHash: (number: number) => Hash | undefined) {
    this.#preimages = preimages
    this.#root = root
    this.#blockHash = blockHash
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
    return codeHash === emptyCodeHash ? emptyBytes : this.#preimages.of(codeHash, fromHex(codeHash))
  }

  blockHash(number: number): Hash | undefined {
    return this.#blockHash(number)
  }

  #read(owner: Uint8Array | undefined, root: Hash, key: Uint8Array): Uint8Array | undefined {
    const trie: TrieAt = { nodes: this.#preimages, owner, keyNibbles: 64 }
    return walk(trie, root, key, (at, path, ref) => this.#load(at, path, ref))
  }

  #load(trie: TrieAt, path: Uint8Array, ref: NodeRef): TrieNode {
    if (ref.length !== 32) return loadNode(trie, path, ref)
    const name = toHex(ref)
    const known = this.#nodes.get(name)
    if (known) return known
    const node = loadNode(trie, path, ref)
    this.#nodes.set(name, node)
    return node
  }
}

/**
 * Creates a state from preimages only: trie nodes and codes by their keccak. Every preimage is verified before use.
 * @param preimages untrusted
 * @param stateRoot of the parent of the block to execute
 * @param blockHash hashes of earlier blocks, as far as they are known
 * @returns a state whose reads throw Fault WITNESS_INCOMPLETE, WITNESS_INVALID, BAD_NODE
 */
export function witnessState(
  preimages: ReadonlyMap<Hash, Uint8Array>,
  stateRoot: Hash,
  blockHash: (number: number) => Hash | undefined,
): WorldState {
  const nodes = new Preimages(preimages)
  return { view: new WitnessView(nodes, stateRoot, blockHash), nodes }
}

import { emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { NodeSource } from '#trie/ports'
import { emptyCodeHash, type Hash } from '#types/ids'
import { stateFault } from './faults.ts'
import { TrieView } from './trieView.ts'
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
  const code = (hash: Hash): Uint8Array => (hash === emptyCodeHash ? emptyBytes : nodes.of(hash, fromHex(hash)))
  return { view: new TrieView(nodes, stateRoot, { code, blockHash }), nodes }
}

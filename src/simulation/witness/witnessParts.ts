import { latin1 } from '#lib/bytes'
import type { CacheSource } from '#lib/caches'
import { keccak256 } from '#lib/keccak'
import type { Lru } from '#lib/lru'
import type { NodeSource } from '#trie/ports'
import type { Hash } from '#types/ids'

/** keccak of a node or code, one character per byte. */
export type PartName = string

export const nameOf = (hash: Uint8Array): PartName => latin1(hash)

/** A witness as the names of its parts. */
export type KnownWitness = {
  readonly nodes: readonly PartName[]
  readonly codes: readonly PartName[]
  /** preimages of hashed keys: concatenated addresses, and concatenated slots */
  readonly addresses: Uint8Array
  readonly slots: Uint8Array
  /** lowest block whose hash was read; Infinity: none */
  readonly lowestBlock: number
}

/** Approximate memory of a part in addition to its bytes, and of a witness in addition to its names. */
const partBytes = 350
const witnessBytes = 500

/**
 * Cache of trie nodes and codes of recent witnesses, each stored once, because witnesses of consecutive blocks share many of them. It also keeps
 * the part names of recent witnesses.
 */
export class WitnessParts {
  readonly #parts: Lru<PartName, Uint8Array>
  readonly #witnesses: Lru<Hash, KnownWitness>

  constructor(caches: CacheSource<'witness'>) {
    this.#parts = caches.lru('witness', 0.9)
    this.#witnesses = caches.lru('witness', 0.1)
  }

  keep(name: PartName, bytes: Uint8Array): void {
    this.#parts.set(name, bytes, partBytes + bytes.length)
  }

  keepCode(code: Uint8Array): PartName {
    const name = nameOf(keccak256(code))
    this.keep(name, code)
    return name
  }

  /** Returns all parts; undefined when one is not cached. */
  all(names: readonly PartName[]): Uint8Array[] | undefined {
    const found: Uint8Array[] = []
    for (const name of names) {
      const part = this.#parts.get(name)
      if (part === undefined) return undefined
      found.push(part)
    }
    return found
  }

  /** Returns a source of the same nodes that reads cached ones from memory. */
  over(nodes: NodeSource): NodeSource {
    return { get: (owner, path, hash, key): Uint8Array | undefined => this.#parts.get(nameOf(hash)) ?? nodes.get(owner, path, hash, key) }
  }

  /** Returns the cached witness of a block. */
  witness(block: Hash): KnownWitness | undefined {
    return this.#witnesses.get(block)
  }

  keepWitness(block: Hash, witness: KnownWitness): void {
    const { nodes, codes, addresses, slots } = witness
    const sizeBytes = witnessBytes + 8 * (nodes.length + codes.length) + addresses.length + slots.length
    this.#witnesses.set(block, witness, sizeBytes)
  }
}

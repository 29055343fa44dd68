import { latin1 } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { Lru } from '#lib/lru'
import type { NodeSource } from '#trie/ports'
import type { Hash } from '#types/ids'

/** The keccak of a node or a code, a character a byte. */
export type PartName = string

export const nameOf = (hash: Uint8Array): PartName => latin1(hash)

/** A witness by the names of its parts. */
export type KnownWitness = {
  readonly nodes: readonly PartName[]
  readonly codes: readonly PartName[]
  /** preimages of hashed keys: addresses, one after the other, and slots */
  readonly addresses: Uint8Array
  readonly slots: Uint8Array
  /** the lowest block whose hash was asked for; infinite: none */
  readonly lowestBlock: number
}

/** About what a part takes beside its bytes, and a witness beside its names. */
const partBytes = 350
const witnessBytes = 500

/**
 * Trie nodes and codes that were wanted lately, each once: witnesses of blocks that follow each other have many in common. Of recent witnesses the
 * names of their parts are kept too.
 */
export class WitnessParts {
  readonly #parts: Lru<PartName, Uint8Array>
  readonly #witnesses: Lru<Hash, KnownWitness>

  /** @param maxBytes of all together */
  constructor(maxBytes: number) {
    this.#parts = new Lru(maxBytes * 0.9)
    this.#witnesses = new Lru(maxBytes * 0.1)
  }

  keep(name: PartName, bytes: Uint8Array): void {
    this.#parts.set(name, bytes, partBytes + bytes.length)
  }

  keepCode(code: Uint8Array): PartName {
    const name = nameOf(keccak256(code))
    this.keep(name, code)
    return name
  }

  /** All parts; undefined when one is gone. */
  all(names: readonly PartName[]): Uint8Array[] | undefined {
    const found: Uint8Array[] = []
    for (const name of names) {
      const part = this.#parts.get(name)
      if (part === undefined) return undefined
      found.push(part)
    }
    return found
  }

  /** The same nodes, each read once. */
  over(nodes: NodeSource): NodeSource {
    return { get: (owner, path, hash, key): Uint8Array | undefined => this.#parts.get(nameOf(hash)) ?? nodes.get(owner, path, hash, key) }
  }

  /** The witness of a block. */
  witness(block: Hash): KnownWitness | undefined {
    return this.#witnesses.get(block)
  }

  keepWitness(block: Hash, witness: KnownWitness): void {
    const { nodes, codes, addresses, slots } = witness
    const sizeBytes = witnessBytes + 8 * (nodes.length + codes.length) + addresses.length + slots.length
    this.#witnesses.set(block, witness, sizeBytes)
  }
}

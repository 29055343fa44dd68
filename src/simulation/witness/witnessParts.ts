import { latin1 } from '#lib/bytes'
import type { CacheSource } from '#lib/caches'
import { keccak256 } from '#lib/keccak'
import type { Lru } from '#lib/lru'
import { type PackedBytes, packBytes, unpackBytes } from '#lib/packedBytes'
import type { Hash } from '#types/ids'

/** Parts of a witness. The headers are read for each answer. */
export type Witnessed = {
  /** RLP of trie nodes */
  readonly state: readonly Uint8Array[]
  readonly codes: readonly Uint8Array[]
  /** preimages of hashed keys: addresses of 20 bytes, slots of 32 bytes */
  readonly keys: readonly Uint8Array[]
  /** lowest block whose hash was read; Infinity: none */
  readonly lowestBlock: number
}

/** keccak of a code, one character per byte. */
type CodeName = string

type KnownWitness = {
  readonly state: PackedBytes
  readonly keys: PackedBytes
  readonly codes: readonly CodeName[]
  readonly lowestBlock: number
}

/** Approximate memory of a code in addition to its bytes, of a packed part, and of a witness in addition to its parts. */
const [codeBytes, endBytes, witnessBytes] = [350, 4, 1_000]

/** Cache of recent witnesses. Their codes are stored once, because most blocks run the same ones. */
export class WitnessParts {
  readonly #codes: Lru<CodeName, Uint8Array>
  readonly #witnesses: Lru<Hash, KnownWitness>

  constructor(caches: CacheSource<'witness'>) {
    this.#codes = caches.lru('witness', 0.2)
    this.#witnesses = caches.lru('witness', 0.8)
  }

  /** Returns the cached witness of a block; undefined when one of its codes is not cached any more. */
  get(block: Hash): Witnessed | undefined {
    const known = this.#witnesses.get(block)
    if (known === undefined) return undefined
    const codes = known.codes.flatMap((name) => this.#codes.get(name) ?? [])
    if (codes.length < known.codes.length) return undefined
    return { state: unpackBytes(known.state), codes, keys: unpackBytes(known.keys), lowestBlock: known.lowestBlock }
  }

  /** Returns whether the witness of a block is cached; one of its codes may be missing. */
  has(block: Hash): boolean {
    return this.#witnesses.peek(block) !== undefined
  }

  keep(block: Hash, { state, codes, keys, lowestBlock }: Witnessed): void {
    const known = { state: packBytes(state), keys: packBytes(keys), codes: codes.map((code) => this.#keepCode(code)), lowestBlock }
    const parts = [known.state, known.keys].reduce((sum, { bytes, ends }) => sum + bytes.length + endBytes * ends.length, 0)
    this.#witnesses.set(block, known, witnessBytes + parts + 50 * known.codes.length)
  }

  #keepCode(code: Uint8Array): CodeName {
    const name = latin1(keccak256(code))
    this.#codes.set(name, code, codeBytes + code.length)
    return name
  }
}

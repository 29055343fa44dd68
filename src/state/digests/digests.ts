import { concatBytes, equalBytes, latin1, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { halfSipHash } from './halfSipHash.ts'

/*
 * Digests of rows and of trie nodes find the blocks that changed them. A contract that can choose rows with equal digests makes reads of older states slow, and nodes
 * of the past unreadable. So each database has a secret key of its own. Meta row `state.digests`: first block u64 ++ key (8 bytes), ascending; blocks below the
 * first entry, written by schema 9 or earlier, have digests without a key. Rows of trie nodes are copied from a chain to its recorded proofs, so these have an
 * entry for each key of a chain that they were recorded from.
 */
const metaKey = new TextEncoder().encode('state.digests')
const keyBytes = 8
const entryBytes = 8 + keyBytes
/** In an entry: digests without a key. */
const noKey = new Uint8Array(keyBytes)

/** Digests by one key, or without a key. */
export type Digest = {
  readonly key: Uint8Array
  /** Returns the digest of a row, 32 bits. @param place hashed key of an account, or that of an account and a slot */
  row(place: Uint8Array): number
  /** Returns the digest of a trie node, 48 bits. */
  node(nodeTable: number, place: Uint8Array): number
}

/** Blocks whose changes have the same digests. */
export type DigestSpan = { readonly from: number; readonly to: number; readonly digest: Digest }

type Entry = { readonly from: number; readonly digest: Digest }

/** The digests of a database. */
export class Digests {
  readonly #entries: readonly Entry[]
  /** Identifies these digests in cache keys. */
  readonly name: string

  constructor(entries: readonly Entry[]) {
    this.#entries = entries
    this.name = latin1(this.encode())
  }

  /** Returns the digests of the changes of a block. */
  at(number: number): Digest {
    return this.#entries.findLast(({ from }) => from <= number)?.digest ?? plain
  }

  /** Divides blocks by their digests, ascending. */
  spans(from: number, to: number): readonly DigestSpan[] {
    if (from > to) return []
    const later = this.#entries.filter((entry) => entry.from > from && entry.from <= to)
    const starts = [{ from, digest: this.at(from) }, ...later]
    return starts.map((start, i) => ({ ...start, to: (starts[i + 1]?.from ?? to + 1) - 1 }))
  }

  /** Returns the same with other digests from a block on. */
  from(number: number, digest: Digest): Digests {
    return new Digests([...this.#entries.filter(({ from }) => from < number), { from: number, digest }])
  }

  encode(): Uint8Array {
    return concatBytes(...this.#entries.flatMap(({ from, digest }) => [u64Bytes(from), digest.key]))
  }
}

/** Parsed keys: each block asks for the same. */
const known = new Map<string, Digest>()
const mostKnown = 64

/** Returns the digests by a key; zeros: those without a key. */
export function digestWith(key: Uint8Array): Digest {
  if (equalBytes(key, noKey)) return plain
  const name = latin1(key)
  let digest = known.get(name)
  if (digest === undefined) {
    if (known.size >= mostKnown) known.clear()
    digest = keyed(key.slice())
    known.set(name, digest)
  }
  return digest
}

function keyed(key: Uint8Array): Digest {
  const words = new DataView(key.buffer, key.byteOffset)
  const sipKey = { k0: words.getInt32(0, true), k1: words.getInt32(4, true) }
  const out = new Uint32Array(2)
  return {
    key,
    row(place): number {
      halfSipHash(sipKey, 0, place, out)
      return out[0] as number
    },
    node(nodeTable, place): number {
      halfSipHash(sipKey, nodeTable, place, out)
      return (out[0] as number) * 2 ** 16 + ((out[1] as number) >>> 16)
    },
  }
}

/** Digests of schema 9 and earlier. */
const plain: Digest = {
  key: noKey,
  // the keys are hashes, so four of their bytes are as good as a hash of all
  row(place): number {
    const digest = u32At(place, 0)
    return place.length > 32 ? (digest + Math.imul(u32At(place, 32), 0x9e3779b1)) >>> 0 : digest
  },
  node(nodeTable, place): number {
    let high = 0x811c9dc5 ^ nodeTable
    let low = 0x9747b28c ^ nodeTable
    for (let i = 0; i < place.length; i++) {
      const byte = place[i] as number
      high = Math.imul(high ^ byte, 0x01000193)
      low = Math.imul(low ^ byte, 0x5bd1e995)
      low ^= low >>> 15
    }
    high = Math.imul(high ^ (high >>> 16), 0x85ebca6b)
    low = Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
    return ((high ^ (high >>> 13)) >>> 0) * 2 ** 16 + ((low ^ (low >>> 16)) >>> 16)
  },
}

/** Returns the digests of a database. */
export function readDigests(reader: KvReader): Digests {
  const row = reader.get(tables.meta.id, metaKey)
  return row === undefined ? new Digests([]) : decode(row)
}

function decode(row: Uint8Array): Digests {
  const entries = Array.from({ length: Math.floor(row.length / entryBytes) }, (_, i) => {
    const entry = row.subarray(entryBytes * i, entryBytes * (i + 1))
    return { from: u64FromBytes(entry.subarray(0, 8)), digest: digestWith(entry.subarray(8)) }
  })
  return new Digests(entries)
}

/** Begins digests with a key of its own in a database that has none. @param from first block whose changes have them */
export function beginDigests(tx: KvWriter, from: number): void {
  if (tx.look(tables.meta.id, metaKey, () => true)) return
  const key = crypto.getRandomValues(new Uint8Array(keyBytes))
  writeDigests(tx, new Digests([]).from(from, digestWith(key)))
}

export function writeDigests(tx: KvWriter, digests: Digests): void {
  tx.put(tables.meta.id, metaKey, digests.encode())
}

import { bytesFromBigint, compareBytes, trimLeft } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, type RlpItem } from '#lib/rlp'
import { type Hash, hashFromBytes } from '#types/ids'

/** Node with its RLP item and encoding; `children` by nibble for a branch, by path for an extension. */
type Node = {
  readonly item: RlpItem
  readonly rlp: Uint8Array
  readonly path?: readonly number[]
  readonly child?: Node
  readonly children?: readonly (Node | undefined)[]
}

type Entry = { readonly nibbles: readonly number[]; readonly value: Uint8Array }

/** Hex-prefix encoding. @see yellow paper, appendix C */
function hexPrefix(nibbles: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (nibbles.length % 2)
  const all = nibbles.length % 2 === 1 ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => (all[2 * i] ?? 0) * 16 + (all[2 * i + 1] ?? 0))
}

const nodeOf = (item: RlpItem, rest: Omit<Node, 'item' | 'rlp'> = {}): Node => ({ item, rlp: encodeRlp(item), ...rest })
const refTo = (node: Node): RlpItem => (node.rlp.length < 32 ? node.item : keccak256(node.rlp))

/** Builds the node of entries with equal nibbles before `depth`. @see yellow paper, appendix D: c(J, i) */
function build(entries: readonly Entry[], depth: number): Node {
  const [first, last] = [entries[0], entries.at(-1)]
  if (!first || !last) throw new RangeError('no entries')
  if (entries.length === 1) return nodeOf([hexPrefix(first.nibbles.slice(depth), true), first.value])
  let end = depth
  while (first.nibbles[end] === last.nibbles[end]) end++
  if (end > depth) {
    const path = first.nibbles.slice(depth, end)
    const child = build(entries, end)
    return nodeOf([hexPrefix(path, false), refTo(child)], { path, child })
  }
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ nibbles }) => nibbles[depth] === nibble)
    return below.length > 0 ? build(below, depth + 1) : undefined
  })
  return nodeOf([...children.map((child) => (child ? refTo(child) : new Uint8Array(0))), new Uint8Array(0)], { children })
}

const nibblesOf = (key: Uint8Array): number[] => [...key].flatMap((byte) => [byte >> 4, byte & 15])

/** Merkle Patricia trie that is built from all its entries at once, from the yellow paper alone. */
export class ReferenceTrie {
  readonly #root: Node | undefined

  constructor(entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]) {
    const sorted = entries.toSorted((a, b) => compareBytes(a.key, b.key)).map(({ key, value }) => ({ nibbles: nibblesOf(key), value }))
    this.#root = sorted.length > 0 ? build(sorted, 0) : undefined
  }

  get root(): Hash {
    return hashFromBytes(keccak256(this.#root?.rlp ?? encodeRlp(new Uint8Array(0))))
  }

  /** Returns the nodes from the root to a key, present or not, without those that are embedded in their parents. */
  proof(key: Uint8Array): Hex[] {
    const nibbles = nibblesOf(key)
    const proof: Hex[] = []
    for (let node = this.#root, depth = 0; node; ) {
      if (proof.length === 0 || node.rlp.length >= 32) proof.push(toHex(node.rlp))
      const { path, child, children } = node
      if (path?.some((nibble, i) => nibbles[depth + i] !== nibble)) break
      node = children ? children[nibbles[depth] ?? 0] : child
      depth += path?.length ?? 1
    }
    return proof
  }
}

const hashedKeys = new Map<Hex, Uint8Array>()

/** Returns the trie key of an address or slot: its hash. */
export function trieKey(name: Hex): Uint8Array {
  const known = hashedKeys.get(name)
  if (known) return known
  const key = keccak256(fromHex(name))
  if (hashedKeys.size < 10_000) hashedKeys.set(name, key)
  return key
}

/** Returns the trie of an account's slots. */
export function storageTrie(slots: ReadonlyMap<Hash, bigint>): ReferenceTrie {
  return new ReferenceTrie(
    [...slots].map(([slot, value]) => ({ key: trieKey(slot), value: encodeRlp(trimLeft(bytesFromBigint(value, 32))) })),
  )
}

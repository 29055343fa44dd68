import { Refusal } from './refusal.ts'
import { decodeList, type Item } from './rlp.ts'

/** Hash of a child (32 bytes), or the child's own RLP, which is shorter. */
export type Reference = Uint8Array

/** Trie node. Paths have one nibble in each byte. Keys of a trie have one length, so that no branch has a value. */
export type Node =
  | { readonly kind: 'branch'; readonly children: readonly (Reference | undefined)[] }
  | { readonly kind: 'extension'; readonly path: Uint8Array; readonly child: Reference }
  | { readonly kind: 'leaf'; readonly path: Uint8Array; readonly value: Uint8Array }

/** Longest node: a branch with 16 hashes and no value. */
export const maxNodeBytes = 3 + 16 * 33 + 1

export function nibblesOf(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * bytes.length)
  for (const [i, byte] of bytes.entries()) {
    nibbles[2 * i] = byte >> 4
    nibbles[2 * i + 1] = byte & 15
  }
  return nibbles
}

/** Decodes a node. @throws Refusal NODES_WRONG @see Ethereum yellow paper, appendix D */
export function decodeNode(rlp: Uint8Array, at: string): Node {
  const items = decodeList(rlp, at)
  if (items.length === 17) {
    if (items[16]?.encoded[0] !== 0x80) throw new Refusal('NODES_WRONG', at, 'a branch with a value')
    return { kind: 'branch', children: items.slice(0, 16).map((item) => childOf(item, at)) }
  }
  const [first, second] = items
  if (items.length !== 2 || first === undefined || second === undefined)
    throw new Refusal('NODES_WRONG', at, `a list of ${items.length} items, 2 or 17 expected`)
  const { isLeaf, path } = decodePath(first, at)
  if (isLeaf) {
    if (second.isList || second.content.length === 0) throw new Refusal('NODES_WRONG', at, 'a leaf without a value')
    return { kind: 'leaf', path, value: second.content }
  }
  const child = childOf(second, at)
  if (child === undefined || path.length === 0) throw new Refusal('NODES_WRONG', at, 'an extension without a path or a child')
  return { kind: 'extension', path, child }
}

/** Returns a child; undefined: there is none. */
function childOf({ isList, content, encoded }: Item, at: string): Reference | undefined {
  if (isList && encoded.length < 32) return encoded
  if (!isList && content.length === 0) return undefined
  if (!isList && content.length === 32) return content
  throw new Refusal('NODES_WRONG', at, 'a child that is neither a hash nor a node of less than 32 bytes')
}

/** Decodes the hex-prefix encoding of a path. @see Ethereum yellow paper, appendix C */
function decodePath({ isList, content }: Item, at: string): { path: Uint8Array; isLeaf: boolean } {
  const first = isList ? undefined : content[0]
  if (first === undefined || first >= 0x40) throw new Refusal('NODES_WRONG', at, 'a node without a path')
  const isOdd = (first & 0x10) !== 0
  if (!isOdd && (first & 0x0f) !== 0) throw new Refusal('NODES_WRONG', at, 'a path with wrong padding')
  return { path: nibblesOf(content).subarray(isOdd ? 1 : 2), isLeaf: (first & 0x20) !== 0 }
}

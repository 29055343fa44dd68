import { encodeRlp, encodeRlpList, RlpError, rlpHead, rlpHeadLength, writeRlpHead } from '#lib/rlp'

/** Reference of a parent to a child: keccak of the child's RLP (32 bytes), or the RLP itself when it is shorter than 32 bytes. */
export type NodeRef = Uint8Array

/** A leaf. Paths are nibbles, one per byte, relative to the node. */
export type LeafNode = { readonly kind: 'leaf'; readonly path: Uint8Array; readonly value: Uint8Array }
export type ExtensionNode = { readonly kind: 'extension'; readonly path: Uint8Array; readonly child: NodeRef }
/** A branch. Its 16 children stay in the RLP; `starts` has their offsets. It has no value, because no key is the prefix of another. */
export type BranchNode = { readonly kind: 'branch'; readonly rlp: Uint8Array; readonly starts: readonly number[] }
export type TrieNode = LeafNode | ExtensionNode | BranchNode

/** Hex-prefix encoding. @see yellow paper, appendix C */
function encodePath(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const odd = path.length & 1
  const out = new Uint8Array((path.length >> 1) + 1)
  out[0] = (isLeaf ? 0x20 : 0) | (odd ? 0x10 | (path[0] ?? 0) : 0)
  for (let i = odd, at = 1; i < path.length; i += 2, at++) out[at] = ((path[i] ?? 0) << 4) | (path[i + 1] ?? 0)
  return out
}

/** Encodes the leaf of a key at a depth in nibbles, as `encodeNode` does. @param value not empty */
export function encodeLeaf(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  const odd = depth & 1
  const pathBytes = key.length - (depth >> 1) + (1 - odd)
  const isOneByte = value.length === 1 && (value[0] as number) < 0x80
  const valueHead = isOneByte ? 0 : rlpHeadLength(value.length)
  const size = (pathBytes === 1 ? 1 : 1 + pathBytes) + valueHead + value.length
  const out = new Uint8Array(rlpHeadLength(size) + size)
  let at = writeRlpHead(out, 0, size, 0xc0)
  if (pathBytes > 1) at = writeRlpHead(out, at, pathBytes, 0x80)
  out[at++] = odd ? 0x30 | ((key[depth >> 1] as number) & 15) : 0x20
  for (let i = (depth + 1) >> 1; i < key.length; i++) out[at++] = key[i] as number
  if (!isOneByte) at = writeRlpHead(out, at, value.length, 0x80)
  out.set(value, at)
  return out
}

function decodePath(bytes: Uint8Array): { path: Uint8Array; isLeaf: boolean } {
  const first = bytes[0] ?? 0xff
  const odd = (first >> 4) & 1
  if (first >= 0x40 || (odd === 0 && (first & 15) !== 0)) throw new RlpError('trie node: path flags')
  const path = new Uint8Array((bytes.length - 1) * 2 + odd)
  if (odd === 1) path[0] = first & 15
  for (let i = 1, at = odd; i < bytes.length; i++, at += 2) {
    const byte = bytes[i] ?? 0
    path[at] = byte >> 4
    path[at + 1] = byte & 15
  }
  return { path, isLeaf: (first & 0x20) !== 0 }
}

/** Returns whether a node's RLP is a leaf, without decoding it. */
export function isLeafRlp(rlp: Uint8Array): boolean {
  const list = rlpHead(rlp, 0)
  const path = rlpHead(rlp, list.from)
  if (path.isList || path.to === path.from) return false
  const rest = rlpHead(rlp, path.to)
  return rest.to === list.to && ((rlp[path.from] ?? 0) & 0x20) !== 0
}

/** Encodes a branch. @param children 16 entries */
export function encodeBranch(children: readonly (NodeRef | undefined)[]): Uint8Array {
  let size = 1
  for (const child of children) size += child === undefined ? 1 : child.length === 32 ? 33 : child.length
  const head = size < 56 ? 1 : size < 256 ? 2 : 3
  const out = new Uint8Array(head + size)
  out[0] = head === 1 ? 0xc0 + size : 0xf6 + head
  if (head === 2) out[1] = size
  if (head === 3) {
    out[1] = size >> 8
    out[2] = size & 255
  }
  let at = head
  for (const child of children) {
    if (child === undefined) {
      out[at++] = 0x80
      continue
    }
    if (child.length === 32) out[at++] = 0xa0
    out.set(child, at)
    at += child.length
  }
  out[at] = 0x80
  return out
}

/** Encodes a node. @see yellow paper, appendix D */
export function encodeNode(node: TrieNode): Uint8Array {
  if (node.kind === 'branch') return node.rlp
  if (node.kind === 'leaf') return encodeRlp([encodePath(node.path, true), node.value])
  const child = node.child.length === 32 ? encodeRlp(node.child) : node.child
  return encodeRlpList([encodeRlp(encodePath(node.path, false)), child])
}

/** Returns the offset of each item in a node's list, and the end of the last item. */
function itemsOf(rlp: Uint8Array): number[] {
  const list = rlpHead(rlp, 0)
  if (!list.isList || list.to !== rlp.length) throw new RlpError('trie node: one list expected')
  const starts: number[] = []
  let at = list.from
  while (at < list.to) {
    starts.push(at)
    const first = rlp[at] ?? 0
    at = first <= 0x80 ? at + 1 : first < 0xb8 ? at + 1 + first - 0x80 : rlpHead(rlp, at).to
  }
  if (at !== list.to) throw new RlpError('trie node: an item exceeds its list')
  starts.push(at)
  return starts
}

function requireRef(rlp: Uint8Array, from: number, to: number): void {
  const first = rlp[from] ?? 0
  if (first === 0x80 || first === 0xa0) return
  if (first < 0xc0 || to - from >= 32) throw new RlpError('trie node: neither a hash nor an embedded node')
}

function refAt(rlp: Uint8Array, from: number, to: number): NodeRef | undefined {
  const first = rlp[from] ?? 0
  if (first === 0x80) return undefined
  return rlp.subarray(first === 0xa0 ? from + 1 : from, to)
}

export function childOf({ rlp, starts }: BranchNode, nibble: number): NodeRef | undefined {
  return refAt(rlp, starts[nibble] ?? 0, starts[nibble + 1] ?? 0)
}

/** Encodes a branch with some children replaced. */
export function branchWith(
  branch: BranchNode,
  replaced: readonly { readonly nibble: number; readonly child: NodeRef | undefined }[],
): Uint8Array {
  const { rlp, starts } = branch
  const isHashAt = (nibble: number): boolean => rlp[starts[nibble] ?? 0] === 0xa0
  if (replaced.every(({ nibble, child }) => child?.length === 32 && isHashAt(nibble))) {
    const out = new Uint8Array(rlp)
    for (const { nibble, child } of replaced) if (child) out.set(child, (starts[nibble] ?? 0) + 1)
    return out
  }
  const children = Array.from({ length: 16 }, (_, nibble) => childOf(branch, nibble))
  for (const { nibble, child } of replaced) children[nibble] = child
  return encodeBranch(children)
}

/** Decodes a node; its byte arrays are views of the RLP. Throws RlpError. */
export function decodeNode(rlp: Uint8Array): TrieNode {
  const starts = itemsOf(rlp)
  const start = (i: number): number => starts[i] ?? 0
  if (starts.length === 18) {
    for (let i = 0; i < 16; i++) requireRef(rlp, start(i), start(i + 1))
    if (rlp[start(16)] !== 0x80) throw new RlpError('trie node: a branch with a value')
    return { kind: 'branch', rlp, starts }
  }
  if (starts.length !== 3) throw new RlpError(`trie node: ${starts.length - 1} items`)
  return decodeShort(rlp, start(1))
}

function decodeShort(rlp: Uint8Array, second: number): TrieNode {
  const encoded = rlpHead(rlp, rlpHead(rlp, 0).from)
  if (encoded.isList) throw new RlpError('trie node: path expected')
  const { path, isLeaf } = decodePath(rlp.subarray(encoded.from, encoded.to))
  const item = rlpHead(rlp, second)
  if (isLeaf) {
    if (item.isList || item.from === item.to) throw new RlpError('trie node: a leaf without value')
    return { kind: 'leaf', path, value: rlp.subarray(item.from, item.to) }
  }
  requireRef(rlp, second, item.to)
  const child = refAt(rlp, second, item.to)
  if (child === undefined || path.length === 0) throw new RlpError('trie node: an extension to nowhere')
  return { kind: 'extension', path, child }
}

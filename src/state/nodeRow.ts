import { u32At } from '#lib/bytes'

/*
 * Row of the trie nodes that one block changed, as they were before it.
 *   row    2^31 + count u32; for each 32 nodes the start of their images u32, from the first image on; for each node, ascending by digest: digest u48 ++
 *          kind u8; then the images
 *   image  by kind, 0: nothing, there was no node · 1 to 16: child kind - 1 alone differs, and it was this hash · 17: length u16 ++ node RLP · 18: length
 *          u16 ++ the children that differ, as of `branchDelta`
 * Rows of schema 6: count u32; for each node: digest u48 ++ end of its image u32; then the images, of which the first byte is 0x00: there was no node,
 * 0x01 ++ node RLP, or 0x02 ++ the children that differ.
 */
const packed = 2 ** 31
const countBytes = 4
const groupNodes = 32
const groupBytes = 4
const digestBytes = 6
const entryBytes = digestBytes + 1
const lengthBytes = 2
const hashBytes = 32
const kinds = { absent: 0, lastHash: 16, whole: 17, children: 18 } as const
const plain = { entryBytes: digestBytes + 4, absent: 0, whole: 1 } as const
/** Marks a hash in a delta. Before it are the bits of the children. */
const [bitsBytes, hashMark] = [2, 0xa0]
const lowBits = 16

/** A node before a block: none, whole, or the children in which it differs from the node after the block, as of `branchDelta`. */
export type NodeImage =
  | { readonly kind: 'absent' }
  | { readonly kind: 'whole'; readonly rlp: Uint8Array }
  | { readonly kind: 'delta'; readonly delta: Uint8Array }

/** `digest`: 48 bits. */
export type NodeEntry = { readonly digest: number; readonly image: NodeImage }

const noNode: NodeImage = { kind: 'absent' }

function kindOf(image: NodeImage): number {
  if (image.kind === 'absent') return kinds.absent
  if (image.kind === 'whole') return kinds.whole
  const { delta } = image
  const isHash = delta.length === bitsBytes + 1 + hashBytes && delta[bitsBytes] === hashMark
  return isHash ? 32 - Math.clz32(u32At(delta, 0) >>> 16) : kinds.children
}

function bytesOf(image: NodeImage, kind: number): number {
  if (image.kind === 'absent') return 0
  if (image.kind === 'whole') return lengthBytes + image.rlp.length
  return kind === kinds.children ? lengthBytes + image.delta.length : hashBytes
}

/** Encodes the nodes of a block, at least one. Sorts them by digest. */
export function encodeNodeRow(entries: NodeEntry[]): Uint8Array {
  entries.sort((a, b) => a.digest - b.digest)
  const count = entries.length
  const list = entries.map(({ image }) => kindOf(image))
  const entriesAt = countBytes + groupBytes * Math.ceil(count / groupNodes)
  const imagesAt = entriesAt + entryBytes * count
  const row = new Uint8Array(entries.reduce((sum, { image }, i) => sum + bytesOf(image, list[i] as number), imagesAt))
  const view = new DataView(row.buffer)
  view.setUint32(0, packed + count)
  let end = imagesAt
  for (const [i, { digest, image }] of entries.entries()) {
    const [kind, at] = [list[i] as number, entriesAt + entryBytes * i]
    if (i % groupNodes === 0) view.setUint32(countBytes + (groupBytes * i) / groupNodes, end - imagesAt)
    view.setUint32(at, Math.floor(digest / 2 ** lowBits))
    view.setUint16(at + 4, digest % 2 ** lowBits)
    row[at + digestBytes] = kind
    putImage(row, view, end, image, kind)
    end += bytesOf(image, kind)
  }
  return row
}

function putImage(row: Uint8Array, view: DataView, at: number, image: NodeImage, kind: number): void {
  if (image.kind === 'absent') return
  const bytes = image.kind === 'whole' ? image.rlp : image.delta
  if (kind <= kinds.lastHash) row.set(bytes.subarray(bitsBytes + 1), at)
  else {
    view.setUint16(at, bytes.length)
    row.set(bytes, at + lengthBytes)
  }
}

/** Where the parts of a row are. */
type Parts = { readonly isPacked: boolean; readonly count: number; readonly entriesAt: number; readonly imagesAt: number }

function partsOf(row: Uint8Array): Parts {
  const first = row.length < countBytes ? 0 : u32At(row, 0)
  const isPacked = first >= packed
  const count = first % packed
  const entriesAt = countBytes + (isPacked ? groupBytes * Math.ceil(count / groupNodes) : 0)
  return { isPacked, count, entriesAt, imagesAt: entriesAt + (isPacked ? entryBytes : plain.entryBytes) * count }
}

const digestAt = (row: Uint8Array, at: number): number => u32At(row, at) * 2 ** lowBits + (row[at + 4] ?? 0) * 256 + (row[at + 5] ?? 0)
const lengthAt = (row: Uint8Array, at: number): number => (row[at] ?? 0) * 256 + (row[at + 1] ?? 0)

/** Returns the number of nodes in a row. */
export const countNodes = (row: Uint8Array): number => partsOf(row).count

/** Returns the upper 32 bits of the digests in a row, ascending: those that indices have. @throws RangeError on a row that is too short for them */
export function digestsIn(row: Uint8Array): number[] {
  const { isPacked, count, entriesAt, imagesAt } = partsOf(row)
  if (imagesAt > row.length) throw new RangeError(`${count} trie nodes in ${row.length} bytes`)
  const size = isPacked ? entryBytes : plain.entryBytes
  return Array.from({ length: count }, (_, i) => u32At(row, entriesAt + size * i))
}

/**
 * Returns for each node in a row the child that alone differs, plus 1, in the order of `digestsIn`; 0: another change. A reader that knows the child before
 * the block need not read the change.
 */
export function onlyChildrenIn(row: Uint8Array): number[] {
  const { isPacked, count, entriesAt } = partsOf(row)
  const kindAt = (i: number): number => (isPacked ? (row[entriesAt + entryBytes * i + digestBytes] ?? 0) : 0)
  return Array.from({ length: count }, (_, i) => (kindAt(i) <= kinds.lastHash ? kindAt(i) : 0))
}

/** Returns the index of the first of `count` entries whose key is not below `key`. */
export function lowerBound(count: number, key: number, keyAt: (index: number) => number): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (keyAt(middle) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns a copy of a node's image in a row; undefined when the block did not change the node. */
export function imageIn(row: Uint8Array, digest: number): NodeImage | undefined {
  const image = sharedImageIn(row, digest)
  return image?.kind === 'delta' ? { kind: 'delta', delta: image.delta.slice() } : image
}

/** Does the same for a row that does not change, without a copy of a delta. A whole node is a copy: a cache of the node would keep the row. */
export function sharedImageIn(row: Uint8Array, digest: number): NodeImage | undefined {
  const parts = partsOf(row)
  const size = parts.isPacked ? entryBytes : plain.entryBytes
  let [index, end] = [0, parts.count]
  while (index < end) {
    const middle = (index + end) >>> 1
    if (digestAt(row, parts.entriesAt + size * middle) < digest) index = middle + 1
    else end = middle
  }
  if (index === parts.count || digestAt(row, parts.entriesAt + size * index) !== digest) return undefined
  return parts.isPacked ? packedImage(row, parts, index) : plainImage(row, parts, index)
}

function packedImage(row: Uint8Array, { entriesAt, imagesAt }: Parts, index: number): NodeImage {
  const group = Math.floor(index / groupNodes)
  const kindsAt = entriesAt + digestBytes
  let at = imagesAt + u32At(row, countBytes + groupBytes * group)
  for (let i = group * groupNodes; i < index; i++) at += packedBytes(row, row[kindsAt + entryBytes * i] ?? 0, at)
  const kind = row[kindsAt + entryBytes * index] ?? 0
  if (kind === kinds.absent) return noNode
  if (kind <= kinds.lastHash) return { kind: 'delta', delta: deltaOf(kind - 1, row.subarray(at, at + hashBytes)) }
  const [from, to] = [at + lengthBytes, at + packedBytes(row, kind, at)]
  return kind === kinds.whole ? { kind: 'whole', rlp: row.slice(from, to) } : { kind: 'delta', delta: row.subarray(from, to) }
}

/** Returns the size of an image. */
function packedBytes(row: Uint8Array, kind: number, at: number): number {
  if (kind === kinds.absent) return 0
  return kind <= kinds.lastHash ? hashBytes : lengthBytes + lengthAt(row, at)
}

/** Returns a delta with one hash. */
function deltaOf(nibble: number, hash: Uint8Array): Uint8Array {
  const delta = new Uint8Array(bitsBytes + 1 + hashBytes)
  const bits = 1 << nibble
  delta[0] = bits >> 8
  delta[1] = bits
  delta[bitsBytes] = hashMark
  delta.set(hash, bitsBytes + 1)
  return delta
}

function plainImage(row: Uint8Array, { entriesAt, imagesAt }: Parts, index: number): NodeImage {
  const endAt = (i: number): number => u32At(row, entriesAt + plain.entryBytes * i + digestBytes)
  const image = row.subarray(index === 0 ? imagesAt : endAt(index - 1), endAt(index))
  if (image[0] === plain.absent) return noNode
  const bytes = image.subarray(1)
  return image[0] === plain.whole ? { kind: 'whole', rlp: bytes.slice() } : { kind: 'delta', delta: bytes }
}

/** Returns whether a row is as it is written: ascending digests, and images that fill the rest of it. */
export function isNodeRowWhole(row: Uint8Array): boolean {
  const parts = partsOf(row)
  if (parts.count === 0 || parts.imagesAt > row.length) return false
  const size = parts.isPacked ? entryBytes : plain.entryBytes
  let [end, before] = [parts.imagesAt, -1]
  for (let i = 0; i < parts.count; i++) {
    const at = parts.entriesAt + size * i
    const digest = digestAt(row, at)
    if (digest <= before) return false
    before = digest
    const next = parts.isPacked ? packedEnd(row, parts, i, end) : u32At(row, at + digestBytes)
    if (next === undefined || next < end || (!parts.isPacked && next === end)) return false
    end = next
  }
  return end === row.length
}

/** Returns the end of an image; undefined when the row has another kind, or another start of its group. @param at its start */
function packedEnd(row: Uint8Array, { entriesAt, imagesAt }: Parts, i: number, at: number): number | undefined {
  const kind = row[entriesAt + entryBytes * i + digestBytes] ?? 0
  const start = u32At(row, countBytes + (groupBytes * i) / groupNodes)
  if (kind > kinds.children || (i % groupNodes === 0 && start !== at - imagesAt)) return undefined
  return at + packedBytes(row, kind, at)
}

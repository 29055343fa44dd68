import { Refusal } from './refusal.ts'

/** Item of an RLP list: views of the list's bytes. */
export type Item = {
  readonly isList: boolean
  readonly content: Uint8Array
  /** with its head */
  readonly encoded: Uint8Array
}

/** Returns the item at an offset. Only its own head is read. @throws Refusal NODES_WRONG when it is not canonical or exceeds the bytes */
function itemAt(bytes: Uint8Array, start: number, at: string): Item {
  const wrong = (reason: string): Refusal => new Refusal('NODES_WRONG', at, `not RLP: ${reason} at byte ${start}`)
  const first = bytes[start] ?? 0
  if (first < 0x80) return { isList: false, content: bytes.subarray(start, start + 1), encoded: bytes.subarray(start, start + 1) }
  const isList = first >= 0xc0
  let size = first - (isList ? 0xc0 : 0x80)
  let from = start + 1
  if (size > 55) {
    const width = size - 55
    // every input of this module is shorter than 2^16 bytes
    if (width > 2) throw wrong(`a length of ${width} bytes`)
    if (from + width > bytes.length) throw wrong('a length without its bytes')
    size = 0
    for (let i = 0; i < width; i++) size = size * 256 + (bytes[from + i] ?? 0)
    if (size < 56 || bytes[from] === 0) throw wrong('a length that is not minimal')
    from += width
  }
  const end = from + size
  if (end > bytes.length) throw wrong(`an item of ${size} bytes, which exceeds the input`)
  const content = bytes.subarray(from, end)
  if (!isList && size === 1 && (content[0] ?? 0) < 0x80) throw wrong('a single byte with a length')
  return { isList, content, encoded: bytes.subarray(start, end) }
}

/** Decodes exactly one item. @throws Refusal NODES_WRONG */
export function decodeItem(bytes: Uint8Array, at: string): Item {
  if (bytes.length === 0) throw new Refusal('NODES_WRONG', at, 'not RLP: no bytes')
  const item = itemAt(bytes, 0, at)
  const rest = bytes.length - item.encoded.length
  if (rest > 0) throw new Refusal('NODES_WRONG', at, `not RLP: ${rest} bytes after the item`)
  return item
}

/** Decodes exactly one list into its items, which may be lists themselves. The time is linear in the bytes. @throws Refusal NODES_WRONG */
export function decodeList(bytes: Uint8Array, at: string): readonly Item[] {
  const { isList, content } = decodeItem(bytes, at)
  if (!isList) throw new Refusal('NODES_WRONG', at, 'bytes instead of an RLP list')
  const items: Item[] = []
  for (let from = 0; from < content.length; from += items.at(-1)?.encoded.length ?? content.length) items.push(itemAt(content, from, at))
  return items
}

/*
 * Layout, integers little-endian:
 *   header    16 u32: magic, version, total bytes, then number of rows and of table entries for accounts, slots, codes; bytes of code; zeros
 *   rows      accounts (112 bytes: key, flags, nonce, balance, code hash), slots (128: address key, slot key, value, value
 *             before the diff or zeros), codes (40: hash, from, length), each ascending by key
 *   tables    accounts, slots, codes: u32 row number + 1, 0 for a free entry; open addressing by the key's first bytes. A row that finds no free
 *             entry within `maxProbes` is in no entry
 *   code      code bytes in the order of their rows
 */
const magic = 0x46445342
const version = 2
const headerBytes = 64
export const [accountBytes, slotBytes, codeBytes] = [112, 128, 40]
/** Offset of the value before in the row of a slot. */
export const slotBefore = 96
export const isGoneFlag = 1
export const isWipedFlag = 2

export type Section = {
  readonly rows: number
  readonly entries: number
  readonly rowsAt: number
  readonly tableAt: number
  readonly rowBytes: number
}
export type Layout = {
  readonly accounts: Section
  readonly slots: Section
  readonly codes: Section
  readonly codeAt: number
  readonly total: number
}

/** Returns the number of table entries: a power of two, at most half of them used. */
function tableEntries(rows: number): number {
  return rows === 0 ? 0 : 2 ** Math.ceil(Math.log2(rows * 2))
}

function layoutOf(rows: readonly [number, number, number], codeLength: number): Layout {
  const sizes = [accountBytes, slotBytes, codeBytes] as const
  let at = headerBytes
  const rowsAt = sizes.map((size, i) => {
    const from = at
    at += size * (rows[i] ?? 0)
    return from
  })
  const section = (i: 0 | 1 | 2): Section => {
    const tableAt = at
    const entries = tableEntries(rows[i])
    at += entries * 4
    return { rows: rows[i], entries, rowsAt: rowsAt[i] ?? 0, tableAt, rowBytes: sizes[i] }
  }
  const [accounts, slots, codes] = [section(0), section(1), section(2)]
  return { accounts, slots, codes, codeAt: at, total: at + codeLength }
}

export const word = (key: Uint8Array, at: number): number =>
  ((key[at] ?? 0) | ((key[at + 1] ?? 0) << 8) | ((key[at + 2] ?? 0) << 16) | ((key[at + 3] ?? 0) << 24)) >>> 0

export const mixed = (address: number, slot: number): number => (Math.imul(address, 0x9e3779b1) ^ slot) >>> 0

/** Compares `length` bytes of two arrays. */
export function compareAt(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number, length: number): number {
  for (let i = 0; i < length; i++) {
    const difference = (a[aAt + i] as number) - (b[bAt + i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns the hash that locates a row: the first bytes of its key, which is a keccak digest already. */
const rowHash = (bytes: Uint8Array, section: Section, row: number): number => {
  const at = section.rowsAt + row * section.rowBytes
  return section.rowBytes === slotBytes ? mixed(word(bytes, at), word(bytes, at + 32)) : word(bytes, at)
}

/** Bound on the entries that one search reads. Rows need more only when their keys were chosen to collide: anyone can try slot numbers until they do. */
export const maxProbes = 64

function fillTable(bytes: Uint8Array, view: DataView, section: Section): void {
  const mask = section.entries - 1
  for (let row = 0; row < section.rows; row++) {
    const hash = rowHash(bytes, section, row)
    for (let probe = 0; probe < maxProbes; probe++) {
      const entry = section.tableAt + ((hash + probe) & mask) * 4
      if (view.getUint32(entry, true) !== 0) continue
      view.setUint32(entry, row + 1, true)
      break
    }
  }
}

function writeHeader(view: DataView, layout: Layout, codeLength: number): void {
  const { accounts, slots, codes } = layout
  const words = [
    magic,
    version,
    layout.total,
    accounts.rows,
    accounts.entries,
    slots.rows,
    slots.entries,
    codes.rows,
    codes.entries,
    codeLength,
  ]
  for (const [i, value] of words.entries()) view.setUint32(i * 4, value, true)
}

/** Bytes of a diff under construction: the header is written, rows and codes are zeros. */
export type NewDiff = { readonly buffer: SharedArrayBuffer; readonly bytes: Uint8Array; readonly view: DataView; readonly layout: Layout }

/** Creates the bytes of a diff. @param rows numbers of accounts, slots and codes @param codeLength bytes of all codes */
export function beginDiff(rows: readonly [number, number, number], codeLength: number): NewDiff {
  const layout = layoutOf(rows, codeLength)
  const buffer = new SharedArrayBuffer(layout.total)
  const view = new DataView(buffer)
  writeHeader(view, layout, codeLength)
  return { buffer, bytes: new Uint8Array(buffer), view, layout }
}

/** Completes a diff whose rows and codes are written. */
export function endDiff({ buffer, bytes, view, layout }: NewDiff): SharedArrayBuffer {
  for (const section of [layout.accounts, layout.slots, layout.codes]) fillTable(bytes, view, section)
  return buffer
}

/** Reads the layout from the header and checks it against the buffer's size; throws RangeError when they disagree. */
export function readLayout(view: DataView): Layout {
  if (view.byteLength < headerBytes) throw new RangeError('state diff: shorter than its header')
  const at = (i: number): number => view.getUint32(i * 4, true)
  if (at(0) !== magic) throw new RangeError('state diff: not one')
  if (at(1) !== version) throw new RangeError(`state diff: version ${at(1)}, this program reads ${version}`)
  const layout = layoutOf([at(3), at(5), at(7)], at(9))
  const { accounts, slots, codes, total } = layout
  const announced = at(2) === total && at(4) === accounts.entries && at(6) === slots.entries && at(8) === codes.entries
  if (!announced || total !== view.byteLength) throw new RangeError('state diff: sizes do not agree')
  return layout
}

export function rowsOf(section: Section): number[] {
  return Array.from({ length: section.rows }, (_, row) => section.rowsAt + row * section.rowBytes)
}

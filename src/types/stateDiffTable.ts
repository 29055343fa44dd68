import { bigintFromBytes, bytesFromBigint, compareBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import type { Hash } from './ids.ts'
import type { AccountChange, StateDiff, StateDiffParts } from './stateDiff.ts'

/*
 * Layout, integers little-endian:
 *   header    16 u32: magic, version, total bytes, then number of rows and of table entries for accounts, slots, codes; bytes of code; zeros
 *   rows      accounts (112 bytes: key, flags, nonce, balance, code hash), slots (96: address key, slot key, value),
 *             codes (40: hash, from, length), each ascending by key
 *   tables    accounts, slots, codes: u32 row number + 1, 0 for a free entry; open addressing by the key's first bytes
 *   code      code bytes in the order of their rows
 */
const magic = 0x46445342
const version = 1
const headerBytes = 64
const [accountBytes, slotBytes, codeBytes] = [112, 96, 40]
const isGoneFlag = 1
const isWipedFlag = 2

type AccountEntry = StateDiffParts['accounts'][number]
type SlotEntry = StateDiffParts['slots'][number]
type CodeEntry = StateDiffParts['codes'][number]

type Section = {
  readonly rows: number
  readonly entries: number
  readonly rowsAt: number
  readonly tableAt: number
  readonly rowBytes: number
}
type Layout = {
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

const word = (key: Uint8Array, at: number): number =>
  ((key[at] ?? 0) | ((key[at + 1] ?? 0) << 8) | ((key[at + 2] ?? 0) << 16) | ((key[at + 3] ?? 0) << 24)) >>> 0

const mixed = (address: number, slot: number): number => (Math.imul(address, 0x9e3779b1) ^ slot) >>> 0

/** Returns the hash that locates a row: the first bytes of its key, which is a keccak digest already. */
const rowHash = (bytes: Uint8Array, section: Section, row: number): number => {
  const at = section.rowsAt + row * section.rowBytes
  return section.rowBytes === slotBytes ? mixed(word(bytes, at), word(bytes, at + 32)) : word(bytes, at)
}

function fillTable(bytes: Uint8Array, view: DataView, section: Section): void {
  for (let row = 0; row < section.rows; row++) {
    let entry = rowHash(bytes, section, row) & (section.entries - 1)
    while (view.getUint32(section.tableAt + entry * 4, true) !== 0) entry = (entry + 1) & (section.entries - 1)
    view.setUint32(section.tableAt + entry * 4, row + 1, true)
  }
}

function sortedUnique<T>(entries: readonly T[], compare: (a: T, b: T) => number, what: string): T[] {
  const sorted = [...entries].sort(compare)
  for (let i = 1; i < sorted.length; i++) {
    if (compare(sorted[i - 1] as T, sorted[i] as T) === 0) throw new RangeError(`state diff: ${what} twice`)
  }
  return sorted
}

const compareSlots = (a: SlotEntry, b: SlotEntry): number => compareBytes(a.addressKey, b.addressKey) || compareBytes(a.slotKey, b.slotKey)

function requireLength(bytes: Uint8Array, length: number, what: string): void {
  if (bytes.length !== length) throw new RangeError(`state diff: ${what} of ${bytes.length} bytes`)
}

function writeAccount(bytes: Uint8Array, view: DataView, at: number, entry: AccountEntry): void {
  requireLength(entry.key, 32, 'account key')
  bytes.set(entry.key, at)
  const { change } = entry
  if (change === null) {
    view.setUint8(at + 32, isGoneFlag | isWipedFlag)
    return
  }
  if (change.nonce < 0n || change.nonce >= 1n << 64n) throw new RangeError(`state diff: nonce ${change.nonce}`)
  view.setUint8(at + 32, entry.wiped ? isWipedFlag : 0)
  view.setBigUint64(at + 40, change.nonce, true)
  bytes.set(bytesFromBigint(change.balance, 32), at + 48)
  bytes.set(fromHex(change.codeHash), at + 80)
}

function writeSlot(bytes: Uint8Array, at: number, entry: SlotEntry): void {
  requireLength(entry.addressKey, 32, 'address key')
  requireLength(entry.slotKey, 32, 'slot key')
  requireLength(entry.value, 32, 'slot value')
  bytes.set(entry.addressKey, at)
  bytes.set(entry.slotKey, at + 32)
  bytes.set(entry.value, at + 64)
}

function encodeStateDiff(parts: StateDiffParts): SharedArrayBuffer {
  const accounts = sortedUnique(parts.accounts, (a, b) => compareBytes(a.key, b.key), 'an account')
  const slots = sortedUnique(parts.slots, compareSlots, 'a slot')
  const codes = sortedUnique(parts.codes, (a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0), 'a code')
  const codeLength = codes.reduce((sum, { code }) => sum + code.length, 0)
  const layout = layoutOf([accounts.length, slots.length, codes.length], codeLength)
  const buffer = new SharedArrayBuffer(layout.total)
  const bytes = new Uint8Array(buffer)
  const view = new DataView(buffer)
  writeHeader(view, layout, codeLength)
  for (const [i, entry] of accounts.entries()) writeAccount(bytes, view, layout.accounts.rowsAt + i * accountBytes, entry)
  for (const [i, entry] of slots.entries()) writeSlot(bytes, layout.slots.rowsAt + i * slotBytes, entry)
  writeCodes(bytes, view, layout, codes)
  for (const section of [layout.accounts, layout.slots, layout.codes]) fillTable(bytes, view, section)
  return buffer
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

function writeCodes(bytes: Uint8Array, view: DataView, layout: Layout, codes: readonly CodeEntry[]): void {
  let from = 0
  for (const [i, { hash, code }] of codes.entries()) {
    const at = layout.codes.rowsAt + i * codeBytes
    bytes.set(fromHex(hash), at)
    view.setUint32(at + 32, from, true)
    view.setUint32(at + 36, code.length, true)
    bytes.set(code, layout.codeAt + from)
    from += code.length
  }
}

/** Reads the layout from the header and checks it against the buffer's size; throws RangeError when they disagree. */
function readLayout(view: DataView): Layout {
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

/** A diff over bytes that this program wrote. */
export class StateDiffTable implements StateDiff {
  readonly bytes: SharedArrayBuffer
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #layout: Layout

  /** Throws RangeError unless the header matches the size. */
  constructor(bytes: SharedArrayBuffer) {
    this.bytes = bytes
    this.#bytes = new Uint8Array(bytes)
    this.#view = new DataView(bytes)
    this.#layout = readLayout(this.#view)
  }

  account(addressKey: Uint8Array): AccountChange | null | undefined {
    const at = this.#find(this.#layout.accounts, word(addressKey, 0), addressKey)
    return at === undefined ? undefined : this.#changeAt(at)
  }

  isWiped(addressKey: Uint8Array): boolean {
    const at = this.#find(this.#layout.accounts, word(addressKey, 0), addressKey)
    return at !== undefined && (this.#view.getUint8(at + 32) & isWipedFlag) !== 0
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const at = this.#find(this.#layout.slots, mixed(word(addressKey, 0), word(slotKey, 0)), addressKey, slotKey)
    return at === undefined ? undefined : this.#bytes.slice(at + 64, at + 96)
  }

  code(codeHash: Hash): Uint8Array | undefined {
    const key = fromHex(codeHash)
    const at = this.#find(this.#layout.codes, word(key, 0), key)
    return at === undefined ? undefined : this.#codeAt(at)
  }

  *accounts(): Iterable<AccountEntry> {
    for (const at of rowsOf(this.#layout.accounts)) {
      const wiped = (this.#view.getUint8(at + 32) & isWipedFlag) !== 0
      yield { key: this.#bytes.slice(at, at + 32), change: this.#changeAt(at), wiped }
    }
  }

  *slots(): Iterable<SlotEntry> {
    const bytes = this.#bytes
    for (const at of rowsOf(this.#layout.slots)) {
      yield { addressKey: bytes.slice(at, at + 32), slotKey: bytes.slice(at + 32, at + 64), value: bytes.slice(at + 64, at + 96) }
    }
  }

  *codes(): Iterable<CodeEntry> {
    for (const at of rowsOf(this.#layout.codes)) yield { hash: this.#hashAt(at), code: this.#codeAt(at) }
  }

  #changeAt(at: number): AccountChange | null {
    if ((this.#view.getUint8(at + 32) & isGoneFlag) !== 0) return null
    const balance = bigintFromBytes(this.#bytes.subarray(at + 48, at + 80))
    return { nonce: this.#view.getBigUint64(at + 40, true), balance, codeHash: this.#hashAt(at + 80) }
  }

  #codeAt(at: number): Uint8Array {
    const from = this.#layout.codeAt + this.#view.getUint32(at + 32, true)
    return this.#bytes.slice(from, from + this.#view.getUint32(at + 36, true))
  }

  #hashAt(at: number): Hash {
    return toHex(this.#bytes.subarray(at, at + 32)) as Hash
  }

  /** Returns the offset of the row with the key. Terminates on any table, because it visits each entry at most once. */
  #find(section: Section, hash: number, key: Uint8Array, second?: Uint8Array): number | undefined {
    const mask = section.entries - 1
    for (let probe = 0; probe < section.entries; probe++) {
      const row = this.#view.getUint32(section.tableAt + ((hash + probe) & mask) * 4, true)
      if (row === 0 || row > section.rows) return undefined
      const at = section.rowsAt + (row - 1) * section.rowBytes
      if (this.#holds(at, key) && (second === undefined || this.#holds(at + 32, second))) return at
    }
    return undefined
  }

  #holds(at: number, key: Uint8Array): boolean {
    for (let i = 0; i < key.length; i++) if (this.#bytes[at + i] !== key[i]) return false
    return true
  }
}

function rowsOf(section: Section): number[] {
  return Array.from({ length: section.rows }, (_, row) => section.rowsAt + row * section.rowBytes)
}

/** Builds a diff. Throws RangeError on a duplicate key, a wrong length, a slot of a deleted account, or a number that does not fit. */
export function createStateDiff(parts: StateDiffParts): StateDiff {
  const diff = new StateDiffTable(encodeStateDiff(parts))
  for (const { addressKey } of parts.slots) {
    if (diff.account(addressKey) === null) throw new RangeError('state diff: slot of a deleted account')
  }
  return diff
}

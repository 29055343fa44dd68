import { bigintFromBytes, bytesFromBigint, compareBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import type { Hash } from './ids.ts'
import type { AccountChange, StateDiff, StateDiffParts } from './stateDiff.ts'
import {
  accountBytes,
  beginDiff,
  codeBytes,
  compareAt,
  endDiff,
  isGoneFlag,
  isWipedFlag,
  type Layout,
  maxProbes,
  mixed,
  type NewDiff,
  readLayout,
  rowsOf,
  type Section,
  slotBefore,
  slotBytes,
  word,
} from './stateDiffLayout.ts'

type AccountEntry = StateDiffParts['accounts'][number]
type SlotEntry = StateDiffParts['slots'][number]
type CodeEntry = StateDiffParts['codes'][number]

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
  if (!entry.before) return
  requireLength(entry.before, 32, 'slot value before')
  bytes.set(entry.before, at + slotBefore)
}

function encodeStateDiff(parts: StateDiffParts): SharedArrayBuffer {
  const accounts = sortedUnique(parts.accounts, (a, b) => compareBytes(a.key, b.key), 'an account')
  const slots = sortedUnique(parts.slots, compareSlots, 'a slot')
  const codes = sortedUnique(parts.codes, (a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0), 'a code')
  const codeLength = codes.reduce((sum, { code }) => sum + code.length, 0)
  const made = beginDiff([accounts.length, slots.length, codes.length], codeLength)
  const { bytes, view, layout } = made
  for (const [i, entry] of accounts.entries()) writeAccount(bytes, view, layout.accounts.rowsAt + i * accountBytes, entry)
  for (const [i, entry] of slots.entries()) writeSlot(bytes, layout.slots.rowsAt + i * slotBytes, entry)
  writeCodes(made, codes)
  return endDiff(made)
}

/** Writes codes, ascending by hash. */
export function writeCodes({ bytes, view, layout }: NewDiff, codes: readonly CodeEntry[]): void {
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

/** A diff over bytes that this program wrote. */
export class StateDiffTable implements StateDiff {
  readonly bytes: SharedArrayBuffer
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #layout: Layout
  #hasWipes: boolean | undefined

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

  get hasWipes(): boolean {
    this.#hasWipes ??= rowsOf(this.#layout.accounts).some((at) => ((this.#bytes[at + 32] ?? 0) & isWipedFlag) !== 0)
    return this.#hasWipes
  }

  isWiped(addressKey: Uint8Array): boolean {
    if (!this.hasWipes) return false
    const at = this.#find(this.#layout.accounts, word(addressKey, 0), addressKey)
    return at !== undefined && (this.#view.getUint8(at + 32) & isWipedFlag) !== 0
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const at = this.#find(this.#layout.slots, mixed(word(addressKey, 0), word(slotKey, 0)), addressKey, slotKey)
    return at === undefined ? undefined : this.#bytes.slice(at + 64, at + 96)
  }

  setsSlots(addressKey: Uint8Array): boolean {
    const { slots } = this.#layout
    const bytes = this.#bytes
    const end = slots.rowsAt + slots.rows * slotBytes
    for (let at = this.#firstFrom(slots, addressKey); at < end && this.#holds(at, addressKey); at += slotBytes) {
      for (let i = at + 64; i < at + slotBefore; i++) if (bytes[i] !== 0) return true
    }
    return false
  }

  code(codeHash: Hash): Uint8Array | undefined {
    if (this.#layout.codes.rows === 0) return undefined
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

  /** Returns the offset of the row with the key. */
  #find(section: Section, hash: number, key: Uint8Array, second?: Uint8Array): number | undefined {
    if (section.rows === 0) return undefined
    const mask = section.entries - 1
    for (let probe = 0; probe < maxProbes; probe++) {
      const row = this.#view.getUint32(section.tableAt + ((hash + probe) & mask) * 4, true)
      if (row === 0 || row > section.rows) return undefined
      const at = section.rowsAt + (row - 1) * section.rowBytes
      if (this.#isAt(at, key, second)) return at
    }
    const at = this.#firstFrom(section, key, second)
    return at < section.rowsAt + section.rows * section.rowBytes && this.#isAt(at, key, second) ? at : undefined
  }

  /** Returns the offset of the first row whose key is not below a key; the end of the rows if there is none. */
  #firstFrom({ rows, rowsAt, rowBytes }: Section, key: Uint8Array, second?: Uint8Array): number {
    let row = 0
    for (let end = rows; row < end; ) {
      const middle = (row + end) >>> 1
      const at = rowsAt + middle * rowBytes
      const order = compareAt(this.#bytes, at, key, 0, 32) || (second ? compareAt(this.#bytes, at + 32, second, 0, 32) : 0)
      if (order < 0) row = middle + 1
      else end = middle
    }
    return rowsAt + row * rowBytes
  }

  #isAt(at: number, key: Uint8Array, second: Uint8Array | undefined): boolean {
    return this.#holds(at, key) && (second === undefined || this.#holds(at + 32, second))
  }

  #holds(at: number, key: Uint8Array): boolean {
    for (let i = 0; i < key.length; i++) if (this.#bytes[at + i] !== key[i]) return false
    return true
  }
}

/** Builds a diff. Throws RangeError on a duplicate key, a wrong length, a slot of a deleted account, or a number that does not fit. */
export function createStateDiff(parts: StateDiffParts): StateDiff {
  const diff = new StateDiffTable(encodeStateDiff(parts))
  for (const { addressKey } of parts.slots) {
    if (diff.account(addressKey) === null) throw new RangeError('state diff: slot of a deleted account')
  }
  return diff
}

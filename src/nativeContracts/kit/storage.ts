import type { AccountHandle, NativeHost } from '../host.ts'
import { contentsSlot, slotAfter } from './slots.ts'
import { add, bytesOf, isZero, newWord, setNumber, setU64At, u64At, type Word, wordOf, wordOfBytes } from './word.ts'

const zero = newWord()
const one = wordOf(1)
const flag = newWord()
const packed = newWord()

/** The storage of one native account: metered reads and writes of typed fields. */
export class Storage {
  readonly host: NativeHost
  readonly account: AccountHandle
  /** From V2 on, a write of a string or list first reads its old length and clears the words that it no longer needs. */
  readonly clearsStale: boolean

  constructor(host: NativeHost, account: AccountHandle, clearsStale: boolean) {
    this.host = host
    this.account = account
    this.clearsStale = clearsStale
  }

  read(slot: Word, to: Word = newWord()): Word {
    this.host.load(to, this.account, slot)
    return to
  }

  write(slot: Word, value: Word): void {
    this.host.store(this.account, slot, value)
  }

  readFlag(slot: Word): boolean {
    this.host.load(flag, this.account, slot)
    return !isZero(flag)
  }

  writeFlag(slot: Word, value: boolean): void {
    this.host.store(this.account, slot, value ? one : zero)
  }

  readU64(slot: Word, limb: number): bigint {
    this.host.load(packed, this.account, slot)
    return u64At(packed, limb)
  }

  /** Replaces the u64 in two limbs of a slot and keeps the others: a read and a write. */
  writeU64(slot: Word, limb: number, value: bigint): void {
    this.host.load(packed, this.account, slot)
    setU64At(packed, limb, value)
    this.host.store(this.account, slot, packed)
  }

  /** Reads a string or byte string: its header, and one word per 32 bytes when it exceeds 31 bytes. */
  readText(slot: Word): Uint8Array {
    const header = this.read(slot)
    const size = textSize(header)
    const bytes = bytesOf(header)
    if (((header[0] as number) & 1) === 0) return bytes.subarray(0, size)
    const text = new Uint8Array((size + 31) & ~31)
    const contents = contentsSlot(slot)
    for (let at = 0; at < size; at += 32) text.set(bytesOf(this.read(slotAfter(contents, at / 32))), at)
    return text.subarray(0, size)
  }

  writeText(slot: Word, text: Uint8Array): void {
    this.#requireWritable()
    const words = text.length < 32 ? 0 : (text.length + 31) >> 5
    const oldWords = this.clearsStale ? textWords(this.read(slot)) : 0
    const contents = words > 0 || oldWords > 0 ? contentsSlot(slot) : slot
    for (let i = words; i < oldWords; i++) this.write(slotAfter(contents, i), zero)
    if (words === 0) {
      this.write(slot, shortText(text))
      return
    }
    this.write(slot, wordOf(2 * text.length + 1))
    for (let i = 0; i < words; i++) this.write(slotAfter(contents, i), wordAt(text, 32 * i))
  }

  /** Deletes a text: reads its header, then clears its words and its header. */
  deleteText(slot: Word): void {
    this.#requireWritable()
    const words = textWords(this.read(slot))
    if (words > 0) {
      const contents = contentsSlot(slot)
      for (let i = 0; i < words; i++) this.write(slotAfter(contents, i), zero)
    }
    this.write(slot, zero)
  }

  /** Reads a list of u64, four in a word. */
  readU64List(slot: Word): bigint[] {
    const count = Number(u64At(this.read(slot), 0))
    const contents = contentsSlot(slot)
    const list: bigint[] = []
    const word = newWord()
    for (let i = 0; i < count; i++) {
      if (i % 4 === 0) this.read(slotAfter(contents, i >> 2), word)
      list.push(u64At(word, 2 * (i % 4)))
    }
    return list
  }

  writeU64List(slot: Word, list: readonly bigint[]): void {
    this.#requireWritable()
    const oldWords = (Number(u64At(this.read(slot), 0)) + 3) >> 2
    const words = (list.length + 3) >> 2
    const contents = contentsSlot(slot)
    for (let i = words; i < oldWords; i++) this.write(slotAfter(contents, i), zero)
    this.write(slot, wordOf(list.length))
    for (let i = 0; i < words; i++) {
      const word = newWord()
      for (const [j, value] of list.slice(4 * i, 4 * i + 4).entries()) setU64At(word, 2 * j, value)
      this.write(slotAfter(contents, i), word)
    }
  }

  /** Reverts in a static frame before the reads that prepare a write. */
  #requireWritable(): void {
    if (this.clearsStale) this.host.requireWritable()
  }
}

/** Returns the bytes of the text whose header is given. */
function textSize(header: Word): number {
  const low = header[0] as number
  return (low & 1) === 0 ? (low & 0xff) >> 1 : Number((u64At(header, 0) - 1n) / 2n)
}

const textWords = (header: Word): number => (((header[0] as number) & 1) === 0 ? 0 : (textSize(header) + 31) >> 5)

/** Returns the header of a text below 32 bytes: the text, and twice its size in the lowest byte. */
function shortText(text: Uint8Array): Word {
  const word = wordAt(text, 0)
  add(word, word, setNumber(newWord(), 2 * text.length))
  return word
}

function wordAt(text: Uint8Array, from: number): Word {
  const bytes = new Uint8Array(32)
  bytes.set(text.subarray(from, from + 32))
  return wordOfBytes(bytes)
}

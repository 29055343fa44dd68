import { keccak256, keccak256Of, keccak256Text } from '#lib/keccak'
import { addNumber, bytesOf, newWord, readWord, subtract, type Word, wordOf, wordOfBytes, writeWord } from './word.ts'

/** Returns the storage root of a namespace (ERC-7201): keccak(keccak(name) - 1), with a zero lowest byte. */
export function namespaceRoot(name: string): Word {
  const before = newWord()
  subtract(before, wordOfBytes(keccak256Text(name)), wordOf(1))
  const root = wordOfBytes(keccak256(bytesOf(before)))
  root[0] = ((root[0] as number) & ~0xff) >>> 0
  return root
}

/** Number of cached slots of mappings. Holders, spenders and policy members of busy tokens repeat. */
const cacheSize = 8_192
const entryLimbs = 24
/** Key, base and slot of each entry. A base is a hash and never zero, so an empty entry matches nothing. */
const cache = new Uint32Array(cacheSize * entryLimbs)
const preimage = new Uint8Array(64)

/** Returns the index of the entry for a key and a base. Colliding pairs replace each other and cost one hash. */
function entryFor(key: Word, base: Word): number {
  const mixed =
    Math.imul((key[0] as number) ^ (base[7] as number), 0x9e3779b1) ^ Math.imul((key[3] as number) + (base[0] as number), 0x85ebca6b)
  return ((mixed ^ (mixed >>> 15)) & (cacheSize - 1)) * entryLimbs
}

function isEntry(at: number, key: Word, base: Word): boolean {
  return isKept(at, key) && isKept(at + 8, base)
}

function isKept(at: number, word: Word): boolean {
  if (cache[at] !== word[0] || cache[at + 1] !== word[1] || cache[at + 2] !== word[2] || cache[at + 3] !== word[3]) return false
  return cache[at + 4] === word[4] && cache[at + 5] === word[5] && cache[at + 6] === word[6] && cache[at + 7] === word[7]
}

/** Stores the slot of a mapping's value: keccak(key ‖ base). */
function mappingSlot(to: Word, key: Word, base: Word): Word {
  const at = entryFor(key, base)
  if (isEntry(at, key, base)) {
    to[0] = cache[at + 16] as number
    to[1] = cache[at + 17] as number
    to[2] = cache[at + 18] as number
    to[3] = cache[at + 19] as number
    to[4] = cache[at + 20] as number
    to[5] = cache[at + 21] as number
    to[6] = cache[at + 22] as number
    to[7] = cache[at + 23] as number
    return to
  }
  writeWord(preimage, 0, key)
  writeWord(preimage, 32, base)
  cache.set(key, at)
  cache.set(base, at + 8)
  readWord(to, keccak256(preimage), 0)
  cache.set(to, at + 16)
  return to
}

/** Returns the slot of the value of a text key: keccak(text ‖ base). */
export const textMappingSlot = (key: Uint8Array, base: Word): Word => wordOfBytes(keccak256Of(key, bytesOf(base)))

/** Returns the first slot of the contents of a dynamic array or a long string. */
export const contentsSlot = (slot: Word): Word => wordOfBytes(keccak256(bytesOf(slot)))

/** Returns the slot at a distance. */
export const slotAfter = (slot: Word, distance: number): Word => addNumber(newWord(), slot, distance)

/** A mapping from words or addresses to words. */
class MappingField {
  readonly base: Word

  constructor(base: Word) {
    this.base = base
  }

  /** Stores the slot of the value of a key. */
  slot(to: Word, key: Word): Word {
    return mappingSlot(to, key, this.base)
  }
}

const inner = newWord()

/** A mapping of mappings. */
class NestedMappingField {
  readonly base: Word

  constructor(base: Word) {
    this.base = base
  }

  /** Stores the slot of the value of an outer and an inner key. */
  slot(to: Word, outerKey: Word, innerKey: Word): Word {
    return mappingSlot(to, innerKey, mappingSlot(inner, outerKey, this.base))
  }
}

/** Fields of a namespace by their number, as a Solidity struct lays them out. */
export type Fields = {
  word(number: number): Word
  mapping(number: number): MappingField
  nested(number: number): NestedMappingField
}

export function fieldsOf(namespace: string): Fields {
  const root = namespaceRoot(namespace)
  const at = (number: number): Word => slotAfter(root, number)
  return {
    word: at,
    mapping: (number) => new MappingField(at(number)),
    nested: (number) => new NestedMappingField(at(number)),
  }
}

import { BoundedMap } from '#lib/boundedMap'
import { padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Address, Hash } from '#types/ids'
import type { NotedKeys } from './keyRing.ts'

/** Words of a call that may be the key of a mapping: the sender, then the first arguments. */
const maxWords = 4
/** Slots that may hold a mapping: most contracts declare theirs among the first. */
const maxMappings = 10
/** Calls of a function from which its rules are learned; each costs some 80 hashes. */
const learnedCalls = 4
/** Functions whose rules are kept. */
const maxFunctions = 4_096
/** Calls of a block from which rules are learned. */
const maxLearned = 64

const selectorBytes = 4
const wordBytes = 32

/** A call by a transaction. */
export type CodeCall = {
  readonly sender: Address
  /** keccak(address) of the called account */
  readonly addressKey: Uint8Array
  readonly codeHash: Hash
  readonly data: Uint8Array
}

/** A function reads the element of a mapping: `mapping` is the mapping's slot, `word` the index of the word that is its key. */
type Rule = { readonly word: number; readonly mapping: number }
/** What is known of one function of one code. */
type CodeFunction = { calls: number; readonly rules: Rule[] }

/** Returns the words of a call that may be keys, as 32 bytes each. */
function wordsOf({ sender, data }: CodeCall): Uint8Array[] {
  const words = [padLeft(fromHex(sender), wordBytes)]
  for (let at = selectorBytes; at + wordBytes <= data.length && words.length < maxWords; at += wordBytes) {
    words.push(data.subarray(at, at + wordBytes))
  }
  return words
}

const input = new Uint8Array(2 * wordBytes)

/** Returns the hashed key of the slot of a mapping's element. @see Solidity, "Layout of State Variables in Storage" */
function elementKey(word: Uint8Array, mapping: number): Uint8Array {
  input.set(word)
  input[input.length - 1] = mapping
  return keccak256(keccak256(input))
}

const nameOf = (addressKey: Uint8Array, slotKey: Uint8Array): string => toHex(addressKey) + toHex(slotKey)

/**
 * Rules by which a function of a contract's code chooses the slots that it reads: elements of mappings by the sender or an argument, as the balances of a
 * token. They are learned from the slots that earlier runs of the same code read, and are hints.
 */
export class SlotRules {
  readonly #functions = new BoundedMap<string, CodeFunction>(maxFunctions)
  /** Slots that calls of this block read if a rule is true. */
  readonly #candidates = new Map<string, { readonly known: CodeFunction; readonly rule: Rule }>()
  #learned = 0

  /** Begins a block. */
  begin(): void {
    this.#candidates.clear()
    this.#learned = 0
  }

  /** Returns the hashed keys of the called account's slots that a call reads by the known rules. Learns from the first calls of each function. */
  slotsOf(call: CodeCall): Uint8Array[] {
    if (call.data.length < selectorBytes) return []
    const name = call.codeHash + toHex(call.data.subarray(0, selectorBytes))
    let known = this.#functions.get(name)
    if (known === undefined) {
      known = { calls: 0, rules: [] }
      this.#functions.set(name, known)
    }
    const words = wordsOf(call)
    if (known.calls < learnedCalls && this.#learned < maxLearned) this.#learn(call, words, known)
    return known.rules.flatMap(({ word, mapping }) => {
      const key = words[word]
      return key ? [elementKey(key, mapping)] : []
    })
  }

  /** Takes keys that the execution of the block has read. */
  read({ addressKey, slotKey }: NotedKeys): void {
    if (slotKey === undefined || this.#candidates.size === 0) return
    const found = this.#candidates.get(nameOf(addressKey, slotKey))
    if (found === undefined) return
    const { known, rule } = found
    if (!known.rules.some(({ word, mapping }) => word === rule.word && mapping === rule.mapping)) known.rules.push(rule)
  }

  #learn({ addressKey }: CodeCall, words: readonly Uint8Array[], known: CodeFunction): void {
    known.calls++
    this.#learned++
    for (const [word, key] of words.entries()) {
      for (let mapping = 0; mapping < maxMappings; mapping++) {
        this.#candidates.set(nameOf(addressKey, elementKey(key, mapping)), { known, rule: { word, mapping } })
      }
    }
  }
}

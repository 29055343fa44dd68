import { Lru } from '#lib/lru'
import type { Hash } from '#types/ids'
import { type Word, wordFromBytes } from './words.ts'

/** Code prepared for execution. */
export type Code = {
  /** Length of the code itself. */
  readonly length: number
  /** The code followed by 33 zero bytes (STOP), so that the program counter never leaves it and a PUSH at the end reads zeros. */
  readonly bytes: Uint8Array
  /** 1 at each valid jump target. */
  readonly jumpTargets: Uint8Array
  /** Immediate of the PUSH at a position, filled on first use. Allocated at full length, because V8 turns a sparse array into a slow dictionary. */
  readonly immediates: (Word | undefined)[]
}

const jumpDest = 0x5b
const push1 = 0x60
const push32 = 0x7f

export function prepareCode(code: Uint8Array): Code {
  const bytes = new Uint8Array(code.length + 33)
  bytes.set(code)
  const jumpTargets = new Uint8Array(code.length)
  for (let at = 0; at < code.length; at++) {
    const op = bytes[at] ?? 0
    if (op === jumpDest) jumpTargets[at] = 1
    else if (op >= push1 && op <= push32) at += op - push1 + 1
  }
  return { length: code.length, bytes, jumpTargets, immediates: new Array(code.length) }
}

/** Returns the `size` bytes after the PUSH at `at` as a word. */
export function immediateAt(code: Code, at: number, size: number): Word {
  const known = code.immediates[at]
  if (known !== undefined) return known
  const word = wordFromBytes(code.bytes.subarray(at + 1, at + 1 + size))
  code.immediates[at] = word
  return word
}

/** Prepared code by code hash, bounded in bytes. An entry's size includes all its immediates. */
export type CodeCache = { get(codeHash: Hash, load: () => Uint8Array): Code }

export function createCodeCache(maxBytes: number): CodeCache {
  const codes = new Lru<Hash, Code>(maxBytes)
  return {
    get(codeHash, load): Code {
      const known = codes.get(codeHash)
      if (known) return known
      const code = prepareCode(load())
      codes.set(codeHash, code, 200 + code.length * 10)
      return code
    },
  }
}

import { emptyBytes } from '#lib/bytes'
import { decodeRlp, encodeRlp, type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
import type { Exports } from './stateModule.ts'

/*
 * A trie between two of its entries, outside linear memory: RLP of [[path] or [], [value] or [], nibbles of a sealed part, open branches]. A path has a nibble
 * a byte. A branch is [depth, its children]: empty, a hash, or an embedded node.
 */

const branches = 16
const mostBranches = 64
const mostValue = 128

/** Encodes a trie of the module's memory. @param at its address */
export function saveTrie(wasm: Exports, memory: Uint8Array, at: number): Uint8Array {
  const word = (offset: number): number => new DataView(memory.buffer).getUint32(at + offset, true)
  const [hasEntry, valueSize, sealed, open] = [word(0), word(4), word(8), word(12)]
  const bytes = (from: number, size: number): Uint8Array => memory.slice(from, from + size)
  const path = Uint8Array.from({ length: 64 }, (_, i) => ((memory[at + wasm.keyAt.value + (i >> 1)] ?? 0) >> (i & 1 ? 0 : 4)) & 15)
  const list = Array.from({ length: open }, (_, index): RlpItem => {
    const branch = at + wasm.branchesAt.value + index * wasm.branchBytes.value
    const children = Array.from({ length: branches }, (_child, i): Uint8Array => {
      const child = branch + 8 + i * wasm.childBytes.value
      const size = memory[child] ?? 0
      return size === 33 ? bytes(child + 2, 32) : bytes(child + 1, size)
    })
    return [Uint8Array.of(memory[branch] ?? 0), children]
  })
  const value = hasEntry !== 0 && valueSize > 0 ? [bytes(at + wasm.valueAt.value, valueSize)] : []
  return encodeRlp([hasEntry === 0 ? [] : [path], value, Uint8Array.of(sealed), list])
}

/** Writes a trie to the module's memory. @throws RlpError on other bytes than those of `saveTrie` */
export function restoreTrie(wasm: Exports, memory: Uint8Array, at: number, state: Uint8Array): void {
  const view = new DataView(memory.buffer)
  const [entry, values, sealed, list] = rlpList(decodeRlp(state), 'trie')
  const [path] = rlpList(entry, 'entry')
  if (path === undefined) return
  const nibbles = rlpBytes(path, 'path')
  for (let i = 0; i < 32; i++) memory[at + wasm.keyAt.value + i] = ((nibbles[2 * i] ?? 0) << 4) | (nibbles[2 * i + 1] ?? 0)
  const [item] = rlpList(values, 'value')
  const value = item === undefined ? emptyBytes : rlpBytes(item, 'value')
  memory.set(value.subarray(0, mostValue), at + wasm.valueAt.value)
  const open = rlpList(list, 'branches').slice(0, mostBranches)
  for (const [offset, word] of [1, value.length, rlpBytes(sealed, 'depth')[0] ?? 0, open.length].entries()) {
    view.setUint32(at + 4 * offset, word, true)
  }
  for (const [index, branch] of open.entries()) {
    const [depth, children] = rlpList(branch, 'branch')
    const to = at + wasm.branchesAt.value + index * wasm.branchBytes.value
    view.setUint32(to, rlpBytes(depth, 'depth')[0] ?? 0, true)
    for (const [i, child] of rlpList(children, 'children').slice(0, branches).entries()) {
      const ref = rlpBytes(child, 'child').subarray(0, 32)
      const place = to + 8 + i * wasm.childBytes.value
      memory[place] = ref.length === 32 ? 33 : ref.length
      memory[place + 1] = 0xa0
      memory.set(ref, place + (ref.length === 32 ? 2 : 1))
    }
  }
}

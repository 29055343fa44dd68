import { lazy } from './lazy.ts'

/** What is used of the global of this name, which the compiler's Node types leave out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { readonly exports: unknown }
}

/** Which message word each half of the eight mixings of a round takes; after ten rounds it starts again. @see RFC 7693, 2.7 */
const schedule: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]

/** Which four words each mixing takes: the columns, then the diagonals. */
const lanes: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

/** WebAssembly's own numbers for its instructions and types. */
const wasm = {
  i32: 0x7f,
  i64: 0x7e,
  noResult: 0x40,
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  branch: 0x0c,
  branchIf: 0x0d,
  get: 0x20,
  set: 0x21,
  load64: 0x29,
  store64: 0x37,
  const32: 0x41,
  const64: 0x42,
  isZero32: 0x45,
  sub32: 0x6b,
  add64: 0x7c,
  xor64: 0x85,
  rotateRight64: 0x8a,
} as const

/** LEB128, as the format writes its numbers. Signed ones below 64 look the same. */
function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)]
}

const roundsLeft = 0
/** Local variable of a word of the state; those of the message follow. */
const stateLocal = (index: number): number => 1 + index
const messageLocal = (index: number): number => 17 + index

function addTo(to: number, from: number): number[] {
  return [wasm.get, to, wasm.get, from, wasm.add64, wasm.set, to]
}

function xorRotate(to: number, from: number, bits: number): number[] {
  const count = bits < 64 ? [bits] : leb(bits)
  return [wasm.get, to, wasm.get, from, wasm.xor64, wasm.const64, ...count, wasm.rotateRight64, wasm.set, to]
}

/** The mixing function G. @see RFC 7693, 3.1 */
function mixing(lane: (typeof lanes)[number], x: number, y: number): number[] {
  const [a, b, c, d] = lane.map(stateLocal) as [number, number, number, number]
  const half = (message: number, first: number, second: number): number[] => [
    ...addTo(a, b),
    ...addTo(a, messageLocal(message)),
    ...xorRotate(d, a, first),
    ...addTo(c, d),
    ...xorRotate(b, c, second),
  ]
  return [...half(x, 32, 24), ...half(y, 16, 63)]
}

/** One round, unless none is left: then out of the loop and the block around it. */
function round(order: readonly number[]): number[] {
  const mixings = lanes.flatMap((lane, i) => mixing(lane, order[2 * i] as number, order[2 * i + 1] as number))
  const count = [wasm.get, roundsLeft, wasm.const32, 1, wasm.sub32, wasm.set, roundsLeft]
  return [wasm.get, roundsLeft, wasm.isZero32, wasm.branchIf, 1, ...count, ...mixings]
}

const words = Array.from({ length: 32 }, (_, i) => i)
const align8 = 3

/** The one function: 16 words of state and 16 of message lie at the start of the memory, little-endian; the state is worked on in place. */
function functionBody(): number[] {
  const load = words.flatMap((i) => [wasm.const32, 0, wasm.load64, align8, ...leb(8 * i), wasm.set, stateLocal(i)])
  const rounds = schedule.flatMap(round)
  const loop = [wasm.block, wasm.noResult, wasm.loop, wasm.noResult, ...rounds, wasm.branch, 0, wasm.end, wasm.end]
  const store = words.slice(0, 16).flatMap((i) => [wasm.const32, 0, wasm.get, stateLocal(i), wasm.store64, align8, ...leb(8 * i)])
  return [1, 32, wasm.i64, ...load, ...loop, ...store, wasm.end]
}

const text = (name: string): number[] => [name.length, ...new TextEncoder().encode(name)]
const sized = (content: readonly number[]): number[] => [...leb(content.length), ...content]

function moduleBytes(): Uint8Array {
  const section = (id: number, content: readonly number[]): number[] => [id, ...sized(content)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, wasm.i32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...text('rounds'), 0, 0, ...text('memory'), 2, 0]),
    ...section(10, [1, ...sized(functionBody())]),
  ])
}

type Exports = { rounds(count: number): void; readonly memory: { readonly buffer: ArrayBuffer } }

const instance = lazy(() => new WebAssembly.Instance(new WebAssembly.Module(moduleBytes())).exports as Exports)

/** Code that runs is replaced by its optimised form only between calls. A multiple of ten keeps the order of the words. */
const roundsPerCall = 20_000

/**
 * Rounds of BLAKE2b's compression, the first with the first order of message words. Cost: some 20 ns a round.
 * @param state 16 words of 64 bits, little-endian, changed in place
 * @param message as many
 */
export function blake2bRounds(state: Uint8Array, message: Uint8Array, count: number): void {
  const { rounds, memory } = instance()
  const bytes = new Uint8Array(memory.buffer)
  bytes.set(state, 0)
  bytes.set(message, 128)
  for (let left = count; left > 0; left -= roundsPerCall) rounds(Math.min(left, roundsPerCall))
  state.set(bytes.subarray(0, 128))
}

import { createPrecompileWasm, type PrecompileWasm } from './wasm.ts'

/** Longest exponent, in bytes, that is faster without a table of powers. */
const shortBytes = 3
/** Memory in bytes above which an instance is dropped after the call; otherwise the memory of one large call would stay allocated. */
const keptBytes = 2 ** 20

let kept: PrecompileWasm | undefined

/**
 * Computes base^exponent mod modulus, all big-endian and without leading zeros; the modulus is above one.
 * @returns as many bytes as the modulus; undefined when the memory does not suffice for numbers of this size
 */
export function power(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array | undefined {
  kept ??= createPrecompileWasm()
  const wasm = kept
  const at = wasm.modexpReserve(base.length, modulus.length)
  if (wasm.memory.buffer.byteLength > keptBytes) kept = undefined
  if (at === 0) return undefined
  const memory = new Uint8Array(wasm.memory.buffer)
  memory.set(base, at)
  memory.set(modulus, at + base.length)
  if (exponent.length === 0) return one(modulus.length)
  wasm.modexpBegin()
  if (exponent.length <= shortBytes) wasm.modexpShort(numberOf(exponent))
  else raise(wasm, memory, exponent)
  wasm.modexpFinish()
  return memory.slice(at, at + modulus.length)
}

/** Processes the exponent piece by piece. */
function raise(wasm: PrecompileWasm, memory: Uint8Array, exponent: Uint8Array): void {
  const [pieceAt, pieceBytes] = [wasm.modexpPiece(), wasm.modexpPieceBytes()]
  wasm.modexpTable()
  for (let done = 0; done < exponent.length; done += pieceBytes) {
    const piece = exponent.subarray(done, done + pieceBytes)
    memory.set(piece, pieceAt)
    wasm.modexpRaise(piece.length)
  }
}

function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => (number << 8) | byte, 0)
}

function one(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  bytes[length - 1] = 1
  return bytes
}

// keccak.wasm: Keccak-256 for code outside the interpreter (`#lib/keccak`). The host writes the input to the arena.
import { addBlocks, clear, finish, keccak256 as hash } from './keccak'

/** The input bytes. */
export const arena: usize = memory.data(65_280, 16)
/** 480 blocks. */
export const arenaBytes: u32 = 65_280
/** The last digest, 32 bytes. */
export const digest: usize = memory.data(32, 16)

/** Hashes the first `size` bytes of the arena. */
export function keccak256(size: u32): void {
  hash(arena, size, digest)
}

/** Hashes the bytes of a hex text in the arena, which follows `0x`. Digits are not checked; letters may have either case. */
export function keccak256Hex(size: u32): void {
  let from = arena + 2
  for (let to = arena, end = arena + size; to < end; to += 8, from += 16) {
    const text = v128.load(from)
    const nine = v128.and(i8x16.shr_u(text, 6), i8x16.splat(1))
    const digits = v128.and(text, i8x16.splat(15))
    const values = i8x16.add(digits, i8x16.add(nine, i8x16.shl(nine, 3)))
    const bytes = v128.and(v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8)), i16x8.splat(255))
    store<i64>(to, i64x2.extract_lane(i8x16.narrow_i16x8_u(bytes, bytes), 0))
  }
  hash(arena, size, digest)
}

/** Starts the hash of an input that exceeds the arena or comes in parts. */
export function begin(): void {
  clear()
}

/** Absorbs the full arena. */
export function addArena(): void {
  addBlocks(arena, arenaBytes)
}

/** Absorbs the first `size` bytes of the arena and finishes. */
export function end(size: u32): void {
  finish(arena, size, digest)
}

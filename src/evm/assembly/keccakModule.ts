// keccak.wasm: Keccak-256 for everything outside the interpreter (`#lib/keccak`). What is hashed is put into the arena first.
import { addBlocks, clear, finish, keccak256 as hash } from './keccak'

/** The bytes to hash. */
export const arena: usize = memory.data(65_280, 16)
/** 480 blocks. */
export const arenaBytes: u32 = 65_280
/** 32 bytes: what came out last. */
export const digest: usize = memory.data(32, 16)

/** Of the arena's first bytes. */
export function keccak256(size: u32): void {
  hash(arena, size, digest)
}

/** Begins what is longer than the arena, or comes in parts. */
export function begin(): void {
  clear()
}

/** Adds all of the arena. */
export function addArena(): void {
  addBlocks(arena, arenaBytes)
}

/** Ends with the arena's first bytes. */
export function end(size: u32): void {
  finish(arena, size, digest)
}

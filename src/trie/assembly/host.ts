// Functions of the host, `src/trie/tries.ts`.
import { take } from './arena'
import { owner } from './changes'
import { writeNibbles } from './paths'

/** Reasons of a failure. */
export const badNode: u32 = 1
export const noAccount: u32 = 2

/** Reads a node from the source to the landing; returns its size. Throws when the source lacks it. Addresses: owner, path, hash and key may be 0. */
// @ts-ignore: decorator
@external("host", "load")
declare function hostLoad(owner: usize, path: usize, depth: u32, hash: usize, key: usize): u32

/** Throws. @param ref, size the reference to the node, or the key */
// @ts-ignore: decorator
@external("host", "fail")
declare function hostFail(reason: u32, owner: usize, path: usize, depth: u32, ref: usize, size: u32): void

/** Size of the landing. A larger node is no node of a state. */
export const landingBytes: u32 = 4096
/** Where the host writes a node. */
export let landing: usize = 0

let nibbles: usize = 0

export function beginHost(): void {
  landing = take(landingBytes)
  nibbles = take(128)
}

/** Reads the node at the first `depth` nibbles of a path to the landing. @param key a key below it; 0: none is known */
export function loadAt(path: usize, depth: u32, hash: usize, key: usize): u32 {
  writeNibbles(nibbles, path, depth)
  return hostLoad(owner, nibbles, depth, hash, key)
}

/** Ends the call with a fault at the first `depth` nibbles of a path. */
export function failAt(reason: u32, path: usize, depth: u32, ref: usize, size: u32): void {
  writeNibbles(nibbles, path, depth)
  hostFail(reason, owner, nibbles, depth, ref, size)
  unreachable()
}

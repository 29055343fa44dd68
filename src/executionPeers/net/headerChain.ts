import { keccak256 } from '#lib/keccak'
import { decodeRlp } from '#lib/rlp'
import type { BlockId } from '#types/blockRef'
import { type Header, headerFromRlp } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'

/** A header by its hash, as a peer sent it; decoded again when its body is there, to keep memory low. */
export type LinkedHeader = { readonly hash: Hash; readonly raw: Uint8Array }

export type Linked =
  | { readonly kind: 'linked'; readonly headers: readonly LinkedHeader[]; readonly parent: BlockId }
  /** the peer sent something else than what the hash names */
  | { readonly kind: 'wrong'; readonly why: string }

/** Decodes a header of a peer. The result keeps no other bytes of its message alive. @throws RlpError */
export const headerOf = ({ raw }: Pick<LinkedHeader, 'raw'>): Header => headerFromRlp(decodeRlp(raw))

/**
 * Ties headers to a block, newest first: each must have the hash that the one before names as its parent, and the number below it.
 * @param top block that the first header must be
 * @param items encoded headers
 */
export function linkHeaders(top: BlockId, items: readonly Uint8Array[]): Linked {
  const headers: LinkedHeader[] = []
  let next = top
  for (const item of items) {
    if (hashFromBytes(keccak256(item)) !== next.hash) return { kind: 'wrong', why: `header ${next.number} has another hash` }
    const raw = item.slice()
    const { number, parentHash } = headerOf({ raw })
    if (number !== next.number) return { kind: 'wrong', why: `header ${next.number} has the number ${number}` }
    headers.push({ hash: next.hash, raw })
    next = { number: number - 1, hash: parentHash }
  }
  return { kind: 'linked', headers, parent: next }
}

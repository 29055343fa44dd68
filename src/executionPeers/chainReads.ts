import type { ChainView } from '#types/chainView'
import { encodeHeader, type Header } from '#types/header'
import type { Hash } from '#types/ids'
import { encodeBody, encodeReceipts } from './eth/blocks.ts'
import type { BlockRange, EthVersion, HeadersQuery } from './eth/messages.ts'

/** Encoded items of one slice of a response, and the time it took. `next`: what follows it; absent: nothing. */
export type Slice<Next> = { readonly items: readonly Uint8Array[]; readonly ms: number; readonly next?: Next }

/** Bounds of one slice, which is read without a pause in the main thread. */
const [maxHeaders, maxBlocks, maxBytes] = [96, 32, 256 * 1_024]

/** Blocks that this node serves, newest included. */
export function rangeOf(view: Pick<ChainView, 'heads' | 'oldestBlock'>): BlockRange {
  const { number, hash } = view.heads.latest
  return { earliest: Math.min(view.oldestBlock, number), latest: number, latestHash: hash }
}

/** Returns the header at the origin of a query, and whether it is canonical. */
function originOf(
  view: ChainView,
  origin: Hash | number,
): { readonly header: Header; readonly hash: Hash; readonly isCanonical: boolean } | undefined {
  const hash = typeof origin === 'number' ? view.canonicalHash(origin) : origin
  const header = hash === undefined ? undefined : view.header(hash)
  return hash && header && { header, hash, isCanonical: view.canonicalHash(header.number) === hash }
}

/**
 * Reads headers. Along the canonical chain by number; from a block beside it by its parents, without gaps and towards genesis only.
 * Headers of pending blocks are not served: their `hash` is an id of this node.
 */
export function readHeaders(
  view: ChainView,
  { origin, amount, skip, isReverse }: HeadersQuery,
  elapsedMs: () => number,
): Slice<HeadersQuery> {
  const fromMs = elapsedMs()
  const items: Uint8Array[] = []
  const first = originOf(view, origin)
  const count = Math.min(amount, maxHeaders)
  let next: Hash | number | undefined
  if (first && first.header.number <= view.heads.latest.number) {
    const step = (skip + 1) * (isReverse ? -1 : 1)
    let at: { readonly header: Header; readonly isCanonical: boolean } | undefined = first
    while (at && items.length < count) {
      items.push(encodeHeader(at.header))
      next = nextOf(at, step)
      at = next === undefined ? undefined : originOf(view, next)
    }
    if (at === undefined) next = undefined
  }
  const left = amount - items.length
  const isMore = next !== undefined && left > 0 && items.length === count
  return { items, ms: elapsedMs() - fromMs, ...(isMore && next !== undefined && { next: { origin: next, amount: left, skip, isReverse } }) }
}

function nextOf(
  { header, isCanonical }: { readonly header: Header; readonly isCanonical: boolean },
  step: number,
): Hash | number | undefined {
  if (!isCanonical) return step === -1 ? header.parentHash : undefined
  const number = header.number + step
  return number >= 0 && Number.isSafeInteger(number) ? number : undefined
}

type ReadOne = (view: ChainView, hash: Hash) => Uint8Array | undefined

/** Reads one item per block until the slice is full; blocks that are not known, or whose rows are pruned, are left out. */
function readBlocks(view: ChainView, hashes: readonly Hash[], elapsedMs: () => number, read: ReadOne): Slice<readonly Hash[]> {
  const fromMs = elapsedMs()
  const items: Uint8Array[] = []
  let bytes = 0
  let at = 0
  for (; at < hashes.length && at < maxBlocks && bytes < maxBytes; at++) {
    const hash = hashes[at]
    const item = hash === undefined ? undefined : read(view, hash)
    if (item === undefined) continue
    items.push(item)
    bytes += item.length
  }
  const rest = hashes.slice(at)
  return { items, ms: elapsedMs() - fromMs, ...(rest.length > 0 && { next: rest }) }
}

const isSealed = (view: ChainView, hash: Hash): boolean => !(view.heads.unsealed?.some((block) => block.hash === hash) ?? false)

export function readBodies(view: ChainView, hashes: readonly Hash[], elapsedMs: () => number): Slice<readonly Hash[]> {
  return readBlocks(view, hashes, elapsedMs, (of, hash) => {
    const block = isSealed(of, hash) ? of.block(hash) : undefined
    return block && !block.isUnsealed ? encodeBody(block.block.header, block.block.transactions) : undefined
  })
}

export function readReceipts(
  view: ChainView,
  version: EthVersion,
  hashes: readonly Hash[],
  elapsedMs: () => number,
): Slice<readonly Hash[]> {
  return readBlocks(view, hashes, elapsedMs, (of, hash) => {
    const receipts = isSealed(of, hash) ? of.receipts(hash) : undefined
    return (
      receipts &&
      encodeReceipts(
        version,
        receipts.map(({ receipt }) => receipt),
      )
    )
  })
}

import type { BlockId } from '#types/blockRef'
import { type Hash, zeroHash } from '#types/ids'
import { type BlockParam, describeBlock, latest } from '../../codecs/blockId.ts'
import type { EthContext } from '../../context.ts'
import { blockNotFound, prunedHistory } from '../../errors.ts'
import type { ChainView, WorldReads } from '../../ports.ts'

function byNumber(view: ChainView, number: number): BlockId | undefined {
  if (number > view.heads.latest.number) return undefined
  const hash = view.canonicalHash(number)
  return hash === undefined ? undefined : { hash, number }
}

/** The block a parameter names: `pending` is the newest one that is not sealed, without any the sealed one that was chosen for this case. */
export function findBlock(context: Pick<EthContext, 'pendingFallback'>, view: ChainView, at: BlockParam): BlockId | undefined {
  if (at.kind === 'number') return byNumber(view, at.number)
  if (at.kind === 'hash') {
    const header = view.header(at.hash)
    if (header === undefined || isOfUnsealed(view, at.hash, header.number)) return undefined
    if (at.mustBeCanonical && byNumber(view, header.number)?.hash !== at.hash) return undefined
    return { hash: at.hash, number: header.number }
  }
  if (at.tag === 'earliest') return byNumber(view, 0)
  return at.tag === 'pending' ? (view.heads.pending ?? view.heads[context.pendingFallback]) : view.heads[at.tag]
}

/** A view finds unsealed blocks by their ids, and by what the block above names: to callers they have no hash. */
function isOfUnsealed(view: ChainView, hash: Hash, number: number): boolean {
  const { unsealed = [] } = view.heads
  return unsealed.some((block) => block.number === number) && isUnsealed(view, view.block(hash)?.hash ?? hash)
}

/** Whether a block of the view is not sealed: then its hash is shown to nobody. */
export const isUnsealed = (view: ChainView, hash: Hash): boolean => view.heads.unsealed?.some((block) => block.hash === hash) ?? false

/** A block as callers see it: one that is not sealed has the hash zero. */
export function shownBlock(context: EthContext, block: BlockId): BlockId {
  using view = context.chain.view()
  return isUnsealed(view, block.hash) ? { hash: zeroHash, number: block.number } : block
}

/** For what is about sealed blocks only: `pending` is the newest of them. */
export const sealed = (at: BlockParam): BlockParam => (at.kind === 'tag' && at.tag === 'pending' ? latest : at)

/** As `findBlock`; RpcError −32001 when there is none. */
export function requireBlock(context: Pick<EthContext, 'pendingFallback'>, view: ChainView, at: BlockParam): BlockId {
  const block = findBlock(context, view, at)
  if (block === undefined) throw blockNotFound(describeBlock(at))
  return block
}

/** Reads the state after a block. RpcError −32001 when there is no such block, 4444 when its state is not retained. */
export function onState<T>(context: EthContext, at: BlockParam, read: (state: WorldReads) => T): T {
  using view = context.chain.view()
  const state = view.state(requireBlock(context, view, at))
  if (state === undefined) throw prunedHistory()
  return read(state)
}

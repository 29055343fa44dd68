import { isActive } from '#chainspec/forks'
import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import { type Hash, zeroHash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import type { WorldReads } from '#types/worldReads'
import type { DecodedBlock } from '../../cache/blockCache.ts'
import { type BlockParam, describeBlock, latest } from '../../codecs/blockId.ts'
import type { EthContext } from '../../context.ts'
import { blockNotFound, internalError, isPruned, prunedHistory, type RpcError } from '../../errors.ts'
import type { LocatedLog } from '../../results/log.ts'

function byNumber(view: ChainView, number: number): BlockId | undefined {
  if (number > view.heads.latest.number) return undefined
  const hash = view.canonicalHash(number)
  return hash === undefined ? undefined : { hash, number }
}

/** Dependencies of the meaning of `pending`. */
type TagContext = Pick<EthContext, 'pendingFallback' | 'forks'>

/** Whether the head is a Denim block, which has no flashblocks. */
export function isDenimHead({ forks }: Pick<EthContext, 'forks'>, view: ChainView): boolean {
  const head = view.header(view.heads.latest.hash)
  return head !== undefined && isActive(forks.schedule, 'denim', head.timestamp)
}

/**
 * Finds the block of `pending`: the newest pending block, or the configured sealed block while there is none. From Denim on it is `latest`: the
 * fallback is for a feed of flashblocks that ends, and Denim has none.
 */
function pendingBlock(context: TagContext, view: ChainView): BlockId {
  const { pending, latest: head, finalized } = view.heads
  if (pending) return pending
  return context.pendingFallback === 'latest' || isDenimHead(context, view) ? head : finalized
}

/** Finds the block of a parameter. */
export function findBlock(context: TagContext, view: ChainView, at: BlockParam): BlockId | undefined {
  if (at.kind === 'number') return byNumber(view, at.number)
  if (at.kind === 'found') return at.block
  if (at.kind === 'hash') {
    const header = view.header(at.hash)
    if (header === undefined || isOfUnsealed(view, at.hash, header.number)) return undefined
    if (at.mustBeCanonical && byNumber(view, header.number)?.hash !== at.hash) return undefined
    return { hash: at.hash, number: header.number }
  }
  if (at.tag === 'earliest') return byNumber(view, 0)
  return at.tag === 'pending' ? pendingBlock(context, view) : view.heads[at.tag]
}

/** Whether a hash names an unsealed block: by its id, or as parent hash of the block above. Views find blocks by both; clients must not. */
function isOfUnsealed(view: ChainView, hash: Hash, number: number): boolean {
  const { unsealed = [] } = view.heads
  return unsealed.some((block) => block.number === number) && view.block(hash)?.isUnsealed === true
}

/** Whether a block of the view is unsealed, so that clients must not see its hash. */
export const isUnsealed = (view: ChainView, hash: Hash): boolean => view.heads.unsealed?.some((block) => block.hash === hash) ?? false

/** Parameter of a block by its hash, canonical or not. */
export const ofHash = (hash: Hash): BlockParam => ({ kind: 'hash', hash, mustBeCanonical: false })

/** Like `findBlock`, on the current view. */
export function blockIdAt(context: EthContext, at: BlockParam): BlockId | undefined {
  using view = context.chain.view()
  return findBlock(context, view, at)
}

/** Reads a block with its receipts; undefined: unknown block. @throws RpcError 4444 when its receipts are pruned */
export function readBlock(context: EthContext, at: BlockParam): DecodedBlock | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  return id && context.blocks.read(view, id.hash)
}

/** Matching logs of a block, in order. @param matcher absent: all @throws RpcError 4444 when its receipts are not retained */
export function logsOfBlock({ blocks }: EthContext, view: ChainView, hash: Hash, matcher?: LogMatcher): readonly LocatedLog[] {
  const block = blocks.read(view, hash)
  if (block === undefined) throw prunedHistory()
  return block.logs(matcher)
}

/** Maximum number of restarts of one query. */
const maxRestarts = 3

/** Repeats a query that returns undefined when the chain reorganised while it ran. */
export async function onSteadyChain<T>(query: () => Promise<T | undefined>): Promise<T> {
  for (let restart = 0; restart < maxRestarts; restart++) {
    const found = await query()
    if (found !== undefined) return found
  }
  throw internalError('the chain reorganised during the query')
}

/**
 * Runs a query that takes several turns of the event loop. The pending block that it started on may disappear in between; the query then starts
 * again on the next pending block.
 */
export async function onSteadyBlock<T>(at: BlockParam, query: () => Promise<T>): Promise<T> {
  const isPending = at.kind === 'tag' && at.tag === 'pending'
  for (let restart = 0; ; restart++) {
    try {
      return await query()
    } catch (error) {
      if (!isPending || !isPruned(error)) throw error
      if (restart >= maxRestarts) throw internalError('the pending block changed during the query')
    }
  }
}

/** A block id as clients see it: the hash of an unsealed block is zero. */
export function shownBlock(context: EthContext, block: BlockId): BlockId {
  using view = context.chain.view()
  return view.block(block.hash)?.isUnsealed ? { hash: zeroHash, number: block.number } : block
}

/** Block parameter of a method for sealed blocks only: replaces `pending` by `latest`. */
export const sealed = (at: BlockParam): BlockParam => (at.kind === 'tag' && at.tag === 'pending' ? latest : at)

/** Like `findBlock`. @throws RpcError −32001 when the block does not exist */
export function requireBlock(context: TagContext, view: ChainView, at: BlockParam): BlockId {
  const block = findBlock(context, view, at)
  if (block === undefined) throw blockNotFound(describeBlock(at))
  return block
}

/** Like `requireBlock`, on the current view. */
export function requireBlockAt(context: EthContext, at: BlockParam): BlockId {
  using view = context.chain.view()
  return requireBlock(context, view, at)
}

/** Error for a block whose state is pruned: names the oldest and the latest block with a state. */
export const prunedState = ({ oldestState, heads }: Pick<ChainView, 'oldestState' | 'heads'>): RpcError =>
  prunedHistory({ what: 'state', number: oldestState, latest: heads.latest.number })

/** Like `prunedState`, on the current view. */
export function prunedStateNow({ chain }: Pick<EthContext, 'chain'>): RpcError {
  using view = chain.view()
  return prunedState(view)
}

/** Reads the state after a block. @throws RpcError −32001 when the block does not exist, 4444 when its state is not retained */
export function onState<T>(context: EthContext, at: BlockParam, read: (state: WorldReads) => T): T {
  using view = context.chain.view()
  const state = view.state(requireBlock(context, view, at))
  if (state === undefined) throw prunedState(view)
  return read(state)
}

import type { BlockId } from '#types/blockRef'
import { type BlockParam, describeBlock } from '../../codecs/blockId.ts'
import type { EthContext } from '../../context.ts'
import { blockNotFound, prunedHistory } from '../../errors.ts'
import type { ChainView, WorldReads } from '../../ports.ts'

function byNumber(view: ChainView, number: number): BlockId | undefined {
  if (number > view.heads.latest.number) return undefined
  const hash = view.canonicalHash(number)
  return hash === undefined ? undefined : { hash, number }
}

/** The block a parameter names; `pending` is `latest` as long as there is no feed of pending blocks. */
export function findBlock(view: ChainView, at: BlockParam): BlockId | undefined {
  if (at.kind === 'number') return byNumber(view, at.number)
  if (at.kind === 'hash') {
    const header = view.header(at.hash)
    if (header === undefined) return undefined
    if (at.mustBeCanonical && byNumber(view, header.number)?.hash !== at.hash) return undefined
    return { hash: at.hash, number: header.number }
  }
  if (at.tag === 'earliest') return byNumber(view, 0)
  return at.tag === 'safe' || at.tag === 'finalized' ? view.heads[at.tag] : view.heads.latest
}

/** As `findBlock`; RpcError −32001 when there is none. */
export function requireBlock(view: ChainView, at: BlockParam): BlockId {
  const block = findBlock(view, at)
  if (block === undefined) throw blockNotFound(describeBlock(at))
  return block
}

/** Reads the state after a block. RpcError −32001 when there is no such block, 4444 when its state is not retained. */
export function onState<T>(context: EthContext, at: BlockParam, read: (state: WorldReads) => T): T {
  using view = context.chain.view()
  const state = view.state(requireBlock(view, at))
  if (state === undefined) throw prunedHistory()
  return read(state)
}

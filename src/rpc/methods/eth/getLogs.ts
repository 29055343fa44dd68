import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { type BlockParam, describeBlock } from '../../codecs/blockId.ts'
import { type LogFilter, logFilter } from '../../codecs/logFilter.ts'
import type { EthContext } from '../../context.ts'
import { blockNotFound, internalError, invalidParams, prunedHistory } from '../../errors.ts'
import type { ChainView } from '../../ports.ts'
import { param } from '../../registry.ts'
import { logResult, type PlacedLog } from '../../results/log.ts'
import { writtenList } from '../../results/text.ts'
import { ethMethod } from '../define.ts'
import { findBlock, requireBlock } from './atBlock.ts'
import { logsOfBlock } from './blockLogs.ts'
import { createLogMatcher, type LogMatcher } from './matchLogs.ts'

/** Blocks looked at before others get a turn of the event loop: their headers cost microseconds each, receipts more. */
const sliceCost = 1_024
const receiptsCost = 64
/** How often the chain may reorganise under one query. */
const maxRestarts = 3

type Range = { readonly from: number; readonly to: number; readonly head: BlockId }

function bound(view: ChainView, at: BlockParam): number {
  if (at.kind === 'number') return at.number
  return requireBlock(view, at).number
}

function planRange(context: EthContext, range: Extract<LogFilter['range'], { kind: 'blocks' }>): Range {
  using view = context.chain.view()
  const head = view.heads.latest
  const from = bound(view, range.from)
  const to = bound(view, range.to)
  if (from > to) throw invalidParams('invalid block range params')
  if (to > head.number) throw invalidParams('block range extends beyond current head block')
  const { logBlocks } = context.limits
  if (to - from > logBlocks) throw invalidParams(`query exceeds max block range ${logBlocks}`)
  return { from, to, head }
}

/** One turn's worth of blocks from `from` on. @returns the next block to look at, or 'reorg' when the planned head is not canonical any more */
function searchSlice(context: EthContext, range: Range, from: number, matcher: LogMatcher, into: PlacedLog[]): number | 'reorg' {
  using view = context.chain.view()
  if (view.canonicalHash(range.head.number) !== range.head.hash) return 'reorg'
  let number = from
  for (let cost = 0; cost < sliceCost && number <= range.to; number++, cost++) {
    const hash = view.canonicalHash(number)
    const header = hash === undefined ? undefined : view.header(hash)
    if (hash === undefined || header === undefined) throw prunedHistory()
    if (!matcher.mayBeIn(header.logsBloom)) continue
    for (const found of logsOfBlock(context, view, hash, matcher)) into.push(found) // they may be too many to be arguments
    cost += receiptsCost
    refuseTooMany(context, range, number, into.length)
  }
  return number
}

/** Names the longest range that would have been answered; a single block is always answered. */
function refuseTooMany(context: EthContext, range: Range, reached: number, found: number): void {
  const { logResults } = context.limits
  if (found <= logResults || range.from === range.to) return
  const last = Math.max(range.from, reached - 1)
  throw invalidParams(`query exceeds max results ${logResults}, retry with the range ${range.from}-${last}`)
}

/** The logs of the range as one head's chain has them; undefined when the chain reorganised meanwhile. */
async function searchRange(context: EthContext, range: Range, matcher: LogMatcher): Promise<readonly PlacedLog[] | undefined> {
  const found: PlacedLog[] = []
  for (let from = range.from; from <= range.to; ) {
    const next = searchSlice(context, range, from, matcher, found)
    if (next === 'reorg') return undefined
    from = next
    if (from <= range.to) await nextTurn()
    if (context.ticket.isCancelled) throw internalError('cancelled')
  }
  return found
}

async function searchBlocks(
  context: EthContext,
  range: Extract<LogFilter['range'], { kind: 'blocks' }>,
  matcher: LogMatcher,
): Promise<readonly PlacedLog[]> {
  for (let restart = 0; restart < maxRestarts; restart++) {
    const found = await searchRange(context, planRange(context, range), matcher)
    if (found !== undefined) return found
  }
  throw internalError('the chain reorganised during the query')
}

function searchBlock(context: EthContext, hash: Hash, matcher: LogMatcher): readonly PlacedLog[] {
  using view = context.chain.view()
  const at: BlockParam = { kind: 'hash', hash, mustBeCanonical: false }
  if (findBlock(view, at) === undefined) throw blockNotFound(describeBlock(at))
  return logsOfBlock(context, view, hash, matcher)
}

/** What a filter finds on the chain as it is; RpcError when its range cannot be searched. */
export function searchLogs(
  context: EthContext,
  { range }: LogFilter,
  matcher: LogMatcher,
): readonly PlacedLog[] | Promise<readonly PlacedLog[]> {
  return range.kind === 'block' ? searchBlock(context, range.hash, matcher) : searchBlocks(context, range, matcher)
}

export const getLogs = ethMethod({
  name: 'eth_getLogs',
  doc: 'Logs of a block or of a range of canonical blocks that match addresses and topics, in order.',
  params: [param('filter', logFilter)],
  result: writtenList(logResult),
  cost: 'range-read',
  example: { params: [{ fromBlock: '0x0', toBlock: '0x0', topics: [`0x${'11'.repeat(32)}`] }], result: [] },
  run: (context, filter) => searchLogs(context, filter, createLogMatcher(filter)),
})

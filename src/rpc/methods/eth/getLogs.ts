import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { type BlockParam, describeBlock } from '../../codecs/blockId.ts'
import { type LogFilter, logFilter } from '../../codecs/logFilter.ts'
import type { EthContext } from '../../context.ts'
import { blockNotFound, internalError, invalidParams, prunedHistory, type RpcError } from '../../errors.ts'
import type { LogSearch, WantedLogs } from '../../logPorts.ts'
import type { ChainView } from '../../ports.ts'
import { param } from '../../registry.ts'
import { logResult, type PlacedLog } from '../../results/log.ts'
import { writtenList } from '../../results/text.ts'
import { ethMethod } from '../define.ts'
import { findBlock, requireBlock } from './atBlock.ts'
import { logsAmong, logsIn, logsOfBlock } from './blockLogs.ts'
import { createLogMatcher, type LogMatcher } from './matchLogs.ts'

/** Blocks looked at before others get a turn of the event loop: their headers cost microseconds each, receipts more. */
const sliceCost = 1_024
const receiptsCost = 64
/** Of a question to the index, and of a block that it named beside the transactions in it. */
const searchCost = 256
const foundCost = 8
/** So many transactions of a block are read by themselves, of more the block is read as a whole. */
const fewTransactions = 32
/** How often the chain may reorganise under one query. */
const maxRestarts = 3

/** `above`: what is found in blocks that are not sealed, where the range goes up to them. */
type Range = { readonly from: number; readonly to: number; readonly head: BlockId; readonly above: readonly PlacedLog[] }

function bound(context: EthContext, view: ChainView, at: BlockParam): number {
  if (at.kind === 'number') return at.number
  return requireBlock(context, view, at).number
}

function planRange(context: EthContext, range: Extract<LogFilter['range'], { kind: 'blocks' }>, matcher: LogMatcher): Range {
  using view = context.chain.view()
  const { latest: head, unsealed = [] } = view.heads
  const from = bound(context, view, range.from)
  const to = bound(context, view, range.to)
  if (from > to) throw invalidParams('invalid block range params')
  const isOpen = to > head.number && range.to.kind === 'tag'
  if (to > head.number && !isOpen) throw invalidParams('block range extends beyond current head block')
  const { logBlocks } = context.limits
  if (to - from > logBlocks) throw invalidParams(`query exceeds max block range ${logBlocks}`)
  const wanted = isOpen ? unsealed.filter(({ number }) => number >= from) : []
  return { from, to: Math.min(to, head.number), head, above: wanted.flatMap(({ hash }) => logsOfBlock(context, view, hash, matcher)) }
}

/** What a search is about: how it goes on is in `Slice`. */
type Query = { readonly range: Range; readonly wanted: WantedLogs; readonly matcher: LogMatcher }

/** One turn of the event loop on one view. */
type Slice = { readonly view: ChainView; readonly into: PlacedLog[]; cost: number }

/** One turn's worth of blocks from `from` on. @returns the next block to look at, or 'reorg' when the planned head is not canonical any more */
function searchSlice(context: EthContext, query: Query, from: number, into: PlacedLog[]): number | 'reorg' {
  using view = context.chain.view()
  const { range, wanted } = query
  if (view.canonicalHash(range.head.number) !== range.head.hash) return 'reorg'
  const slice: Slice = { view, into, cost: 0 }
  const isSelective = wanted.addresses.length > 0 || wanted.topics.some((alternatives) => alternatives.length > 0)
  let number = from
  while (slice.cost < sliceCost && number <= range.to) {
    const search: LogSearch = isSelective ? view.findLogs(wanted, number, range.to) : { kind: 'unindexed', next: range.to + 1 }
    number = search.kind === 'found' ? readFound(context, query, slice, search) : scan(context, query, slice, number, search.next)
  }
  return number
}

/** Reads what an index found. @returns the next block to look at */
function readFound(context: EthContext, query: Query, slice: Slice, { places, next }: Extract<LogSearch, { kind: 'found' }>): number {
  const { view, into } = slice
  slice.cost += searchCost
  for (const { number, transactions } of places) {
    if (slice.cost >= sliceCost) return number
    for (const found of logsOfPlace(context, view, query.matcher, number, transactions)) into.push(found)
    slice.cost += foundCost + transactions.length
    refuseTooMany(context, query.range, number, into.length)
  }
  return next
}

/** The logs that match in some transactions of a canonical block, in order. */
function logsOfPlace(
  { blocks }: EthContext,
  view: ChainView,
  matcher: LogMatcher,
  number: number,
  transactions: readonly number[],
): readonly PlacedLog[] {
  const hash = view.canonicalHash(number)
  if (hash === undefined) throw prunedHistory()
  const kept = blocks.kept(hash) ?? (transactions.length > fewTransactions ? blocks.pass(view, hash) : undefined)
  if (kept) return logsIn(kept, matcher, transactions)
  const read = view.logsAt(number, transactions)
  if (read === undefined) throw prunedHistory()
  return logsAmong(read, matcher)
}

/** Looks through blocks one by one. @returns the next block to look at */
function scan(context: EthContext, { range, matcher }: Query, slice: Slice, from: number, end: number): number {
  const { view, into } = slice
  let number = from
  for (; slice.cost < sliceCost && number < end; number++, slice.cost++) {
    const hash = view.canonicalHash(number)
    const header = hash === undefined ? undefined : view.header(hash)
    if (hash === undefined || header === undefined) throw prunedHistory()
    if (!matcher.mayBeIn(header.logsBloom)) continue
    const block = context.blocks.pass(view, hash)
    if (block === undefined) throw prunedHistory()
    for (const found of logsIn(block, matcher)) into.push(found) // they may be too many to be arguments
    slice.cost += receiptsCost
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

/** Names the longest range that there was time for. */
function tooSlow({ limits }: EthContext, range: Range, next: number): RpcError {
  const last = Math.max(range.from, next - 1)
  return invalidParams(`query exceeds max time ${limits.logMs} ms, retry with the range ${range.from}-${last}`)
}

/** The logs of the range as one head's chain has them; undefined when the chain reorganised meanwhile. */
async function searchRange(context: EthContext, query: Query): Promise<readonly PlacedLog[] | undefined> {
  const found: PlacedLog[] = []
  const { range } = query
  const endMs = context.clock.elapsedMs() + context.limits.logMs
  for (let from = range.from; from <= range.to; ) {
    const next = searchSlice(context, query, from, found)
    if (next === 'reorg') return undefined
    from = next
    if (from <= range.to) await nextTurn()
    if (context.ticket.isCancelled) throw internalError('cancelled')
    if (from <= range.to && context.clock.elapsedMs() > endMs) throw tooSlow(context, range, from)
  }
  if (range.above.length === 0) return found
  if (found.length > 0) refuseTooMany(context, range, range.to + 1, found.length + range.above.length)
  return [...found, ...range.above]
}

async function searchBlocks(
  context: EthContext,
  range: Extract<LogFilter['range'], { kind: 'blocks' }>,
  what: Omit<Query, 'range'>,
): Promise<readonly PlacedLog[]> {
  for (let restart = 0; restart < maxRestarts; restart++) {
    const found = await searchRange(context, { ...what, range: planRange(context, range, what.matcher) })
    if (found !== undefined) return found
  }
  throw internalError('the chain reorganised during the query')
}

function searchBlock(context: EthContext, hash: Hash, matcher: LogMatcher): readonly PlacedLog[] {
  using view = context.chain.view()
  const at: BlockParam = { kind: 'hash', hash, mustBeCanonical: false }
  if (findBlock(context, view, at) === undefined) throw blockNotFound(describeBlock(at))
  return logsOfBlock(context, view, hash, matcher)
}

/** What a filter finds on the chain as it is; RpcError when its range cannot be searched. */
export function searchLogs(
  context: EthContext,
  { range, ...wanted }: LogFilter,
  matcher: LogMatcher,
): readonly PlacedLog[] | Promise<readonly PlacedLog[]> {
  return range.kind === 'block' ? searchBlock(context, range.hash, matcher) : searchBlocks(context, range, { wanted, matcher })
}

export const getLogs = ethMethod({
  name: 'eth_getLogs',
  doc: 'Logs of a block or of a range of canonical blocks that match addresses and topics, in order; with `toBlock` `pending` also those of blocks that are not sealed.',
  params: [param('filter', logFilter)],
  result: writtenList(logResult),
  cost: 'range-read',
  example: { params: [{ fromBlock: '0x0', toBlock: '0x0', topics: [`0x${'11'.repeat(32)}`] }], result: [] },
  run: (context, filter) => searchLogs(context, filter, createLogMatcher(filter)),
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { ChainView, LogSearch } from '#types/chainView'
import type { Hash } from '#types/ids'
import { LogMatcher, type WantedLogs } from '#types/logMatcher'
import { type LogTerms, logTerms } from '../../../cache/keptLogs.ts'
import { type BlockParam, describeBlock } from '../../../codecs/blockId.ts'
import { type LogFilter, logFilter } from '../../../codecs/logFilter.ts'
import type { EthContext } from '../../../context.ts'
import { blockNotFound, internalError, invalidParams, prunedHistory, type RpcError } from '../../../errors.ts'
import { param } from '../../../registry.ts'
import type { ByteList } from '../../../results/byteList.ts'
import { type LocatedLog, logResult } from '../../../results/log.ts'
import { asBytes, writtenList } from '../../../results/text.ts'
import { ethMethod } from '../../define.ts'
import { findBlock, logsOfBlock, ofHash, onSteadyChain, requireBlock } from '../atBlock.ts'
import { receiptsCost, sliceCost } from '../readCosts.ts'
import { FoundLogs } from './foundLogs.ts'

/** Transactions whose kept text costs as much to make as a header, and kept logs that cost as much to find. */
const perKeeping = 4
const perKept = 16
/** Length of a range up to which its blocks are kept in the cache; longer ranges only use cached blocks. */
const nearBlocks = 128
/** Cost of an index query, and of a block that it found, in addition to the transactions in it. */
const searchCost = 512
const foundCost = 1
/** Number of transactions up to which they are read singly; for more, the whole block is read. */
const fewTransactions = 32

/** `above`: matching logs of pending blocks, when the range includes them. */
type Range = { readonly from: number; readonly to: number; readonly head: BlockId; readonly above: readonly LocatedLog[] }

function bound(context: EthContext, view: ChainView, at: BlockParam): number {
  if (at.kind === 'number') return at.number
  return requireBlock(context, view, at).number
}

function planRange(context: EthContext, range: Extract<LogFilter['range'], { kind: 'blocks' }>, matcher: LogMatcher): Range {
  using view = context.chain.view()
  const { latest: head, unsealed = [] } = view.heads
  const from = bound(context, view, range.from)
  const to = bound(context, view, range.to)
  if (to > head.number && range.to.kind !== 'tag') throw invalidParams('block range extends beyond current head block')
  // from the block after the head on, as clients poll, there is nothing yet
  if (from > to && from <= head.number) throw invalidParams('invalid block range params')
  const { logBlocks } = context.limits
  if (to - from > logBlocks) throw invalidParams(`query exceeds max block range ${logBlocks}`)
  if (from < view.oldestLogs) throw prunedHistory()
  const wanted = unsealed.filter(({ number }) => number >= from && number <= to)
  return { from, to: Math.min(to, head.number), head, above: wanted.flatMap(({ hash }) => logsOfBlock(context, view, hash, matcher)) }
}

/** A search. Its position is in `Progress`. */
type Query = { readonly range: Range; readonly wanted: WantedLogs; readonly matcher: LogMatcher; readonly terms: LogTerms }

/** Position of a search: next block, logs found, current index result, and number of its blocks that were read. */
type Progress = { next: number; readonly found: FoundLogs; search: LogSearch | undefined; read: number }

/** Work of one turn of the event loop, on one view. */
type Slice = { readonly view: ChainView; cost: number }

/** Continues a search by one slice; 'reorg' when the planned head is no longer canonical. */
function searchSlice(context: EthContext, query: Query, progress: Progress): 'on' | 'reorg' {
  using view = context.chain.view()
  const { range } = query
  if (view.canonicalHash(range.head.number) !== range.head.hash) return 'reorg'
  // retention may have removed blocks since the last slice
  if (progress.next < view.oldestLogs) throw prunedHistory()
  const slice: Slice = { view, cost: 0 }
  while (slice.cost < sliceCost && progress.next <= range.to) {
    progress.search ??= askIndex(query, slice, progress)
    if (progress.search.kind === 'found') readFound(context, query, slice, progress, progress.search)
    else scan(context, query, slice, progress, progress.search.next)
    if (progress.next >= progress.search.next) progress.search = undefined
  }
  return 'on'
}

function askIndex({ wanted, range }: Query, slice: Slice, progress: Progress): LogSearch {
  const isSelective = wanted.addresses.length > 0 || wanted.topics.some((alternatives) => alternatives.length > 0)
  if (!isSelective) return { kind: 'unindexed', next: range.to + 1 }
  const search = slice.view.findLogs(wanted, progress.next, range.to)
  if (search.kind === 'found') slice.cost += searchCost
  progress.read = 0
  return search
}

type Found = Extract<LogSearch, { kind: 'found' }>

/** Reads blocks that the index found. Its result stays valid in later slices while the head is canonical. */
function readFound(context: EthContext, query: Query, slice: Slice, progress: Progress, { places, next }: Found): void {
  for (; slice.cost < sliceCost; progress.read++) {
    const place = places[progress.read]
    if (place === undefined) {
      progress.next = next
      return
    }
    readLocation(context, query, slice, progress.found, place)
    progress.next = place.number + 1
    refuseTooMany(context, query.range, place.number, progress.found)
  }
}

/** Adds the matching logs of some transactions of a canonical block. */
function readLocation(
  context: EthContext,
  query: Query,
  slice: Slice,
  into: FoundLogs,
  { number, transactions }: Found['places'][number],
): void {
  if (transactions.length > fewTransactions) {
    readBlock(context, query, slice, into, slice.view.canonicalHash(number), transactions)
    return
  }
  const found = slice.view.logsAt(number, transactions, query.matcher)
  if (found === undefined) throw prunedHistory()
  into.add(found)
  slice.cost += foundCost + transactions.length
}

/** Adds the matching logs of a block that is read as a whole. @param only indexes of candidate transactions; absent: all */
function readBlock(
  { blocks }: EthContext,
  { range, matcher, terms }: Query,
  slice: Slice,
  into: FoundLogs,
  hash: Hash | undefined,
  only?: readonly number[],
): void {
  const isNear = range.to - range.from < nearBlocks
  const block = hash && (isNear ? blocks.read(slice.view, hash) : blocks.pass(slice.view, hash))
  if (!block) throw prunedHistory()
  if (isNear || block.text.hasLogs) {
    if (!block.text.hasLogs) slice.cost += receiptsCost + block.count / perKeeping
    const logs = block.text.logs()
    const places = logs.matching(terms)
    into.addKept(logs, places)
    slice.cost += 1 + places.length / perKept
  } else {
    slice.cost += only?.length ?? receiptsCost
    into.add(block.logs(matcher, only))
  }
}

/** Scans blocks one by one. */
function scan(context: EthContext, query: Query, slice: Slice, progress: Progress, end: number): void {
  const { view } = slice
  for (; slice.cost < sliceCost && progress.next < end; progress.next++, slice.cost++) {
    const number = progress.next
    const hash = view.canonicalHash(number)
    const header = hash === undefined ? undefined : view.header(hash)
    if (hash === undefined || header === undefined) throw prunedHistory()
    if (!query.matcher.mayBeIn(header.logsBloom)) continue
    readBlock(context, query, slice, progress.found, hash)
    refuseTooMany(context, query.range, number, progress.found)
  }
}

/** Refuses a result that is too large, with the longest range that fits; a single block is always answered. */
function refuseTooMany(
  { limits }: EthContext,
  range: Range,
  reached: number,
  { count, sizeBytes }: Pick<FoundLogs, 'count' | 'sizeBytes'>,
): void {
  const { logResults, logBytes } = limits
  if ((count <= logResults && sizeBytes <= logBytes) || range.from === range.to) return
  const last = Math.max(range.from, reached - 1)
  const limit = count > logResults ? `results ${logResults}` : `size ${logBytes} bytes`
  throw invalidParams(`query exceeds max ${limit}, retry with the range ${range.from}-${last}`)
}

/** Error of a search that took too long, with the longest range that was searched. */
function tooSlow({ limits }: EthContext, range: Range, next: number): RpcError {
  const last = Math.max(range.from, next - 1)
  return invalidParams(`query exceeds max time ${limits.logMs} ms, retry with the range ${range.from}-${last}`)
}

/** Logs of the range on the chain of one head; undefined when the chain reorganised in between. */
async function searchRange(context: EthContext, query: Query): Promise<ByteList | undefined> {
  const { range } = query
  const found = new FoundLogs()
  const progress: Progress = { next: range.from, found, search: undefined, read: 0 }
  const endMs = context.clock.elapsedMs() + context.limits.logMs
  while (progress.next <= range.to) {
    if (searchSlice(context, query, progress) === 'reorg') return undefined
    const isDone = progress.next > range.to
    if (!isDone) await nextTurn()
    if (context.cancellation.isCancelled) throw internalError('cancelled')
    if (!isDone && context.clock.elapsedMs() > endMs) throw tooSlow(context, range, progress.next)
  }
  const isAnySealed = found.count > 0
  found.add(range.above)
  if (isAnySealed) refuseTooMany(context, range, range.to + 1, found)
  return found.finish()
}

function searchBlock(context: EthContext, hash: Hash, wanted: WantedLogs): ByteList {
  using view = context.chain.view()
  const at = ofHash(hash)
  if (findBlock(context, view, at) === undefined) throw blockNotFound(describeBlock(at))
  const logs = context.blocks.read(view, hash)?.text.logs()
  if (logs === undefined) throw prunedHistory()
  const found = new FoundLogs()
  found.addKept(logs, logs.matching(logTerms(wanted)))
  return found.finish()
}

/** Searches the current chain for the logs of a filter. @throws RpcError when its range is invalid */
export function searchLogs(context: EthContext, { range, ...wanted }: LogFilter, matcher: LogMatcher): ByteList | Promise<ByteList> {
  if (range.kind === 'block') return searchBlock(context, range.hash, wanted)
  const what = { wanted, matcher, terms: logTerms(wanted) }
  return onSteadyChain(() => searchRange(context, { ...what, range: planRange(context, range, matcher) }))
}

export const getLogs = ethMethod({
  name: 'eth_getLogs',
  doc: 'Logs of a block, or of a range of canonical blocks, that match addresses and topics, in order. With `toBlock` `pending`, includes the logs of pending blocks.',
  params: [param('filter', logFilter)],
  result: asBytes(writtenList(logResult)),
  cost: 'range-read',
  example: { params: [{ fromBlock: '0x0', toBlock: '0x0', topics: [`0x${'11'.repeat(32)}`] }], result: [] },
  run: (context, filter) => searchLogs(context, filter, new LogMatcher(filter)),
})

import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import { type LogFilter, logFilter } from '../../../codecs/logFilter.ts'
import { flag, text } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { filterNotFound } from '../../../errors.ts'
import type { Trail } from '../../../filters/chainTrail.ts'
import type { Filter, LogsFilter } from '../../../filters/filters.ts'
import { refTo } from '../../../reference/schemas.ts'
import { type Method, param } from '../../../registry.ts'
import { type LocatedLog, logResult, logText, logTextBytes } from '../../../results/log.ts'
import { asBytes, type WrittenCodec, written, writtenList } from '../../../results/text.ts'
import { ethMethod } from '../../define.ts'
import { throwIfCancelled } from '../../turns.ts'
import { logsOfBlock } from '../atBlock.ts'
import { searchLogs } from '../logs/getLogs.ts'
import { receiptsCost } from '../readCosts.ts'
import { type Collect, followChain, trailFromHead } from './followChain.ts'

function install(context: EthContext, make: (trail: Trail) => Filter): string {
  using view = context.chain.view()
  return context.filters.add(make(trailFromHead(context, view)))
}

const id = param('filter', text)
const idResult = { doc: 'id of the filter', schema: { type: 'string' }, encode: (value: string): string => value }
const exampleId = '0x9ce59a13059e417087c02d3236a0b1cc'

const newFilter = ethMethod({
  name: 'eth_newFilter',
  doc: 'Creates a filter for logs of new blocks. It ends after five minutes without a poll.',
  params: [param('filter', logFilter)],
  result: idResult,
  cost: 'point-read',
  example: { params: [{ address: '0x4200000000000000000000000000000000000015' }] },
  run(context, filter): string {
    const { range, ...wanted } = filter
    return install(context, (trail) => ({ kind: 'logs', range, use: context.filters.matcherFor(wanted), trail }))
  },
})

const newBlockFilter = ethMethod({
  name: 'eth_newBlockFilter',
  doc: 'Creates a filter for new blocks. It ends after five minutes without a poll.',
  params: [],
  result: idResult,
  cost: 'point-read',
  example: { params: [] },
  run: (context) => install(context, (trail) => ({ kind: 'blocks', trail })),
})

const newPendingTransactionFilter = ethMethod({
  name: 'eth_newPendingTransactionFilter',
  doc: 'Creates a filter for new transactions in the pool of this node, or forwarded by it to the sequencer. It ends after five minutes without a poll.',
  params: [],
  result: idResult,
  cost: 'point-read',
  example: { params: [] },
  run: ({ filters }) => filters.add({ kind: 'pending', next: filters.pending.end }),
})

const uninstallFilter = ethMethod({
  name: 'eth_uninstallFilter',
  doc: 'Ends a filter. Returns false when it does not exist.',
  params: [id],
  result: flag,
  cost: 'instant',
  example: { params: [exampleId], result: false },
  run: ({ filters }, of) => filters.remove(of),
})

/** Whether a filter covers a block. Only numbers and hashes bound it: new blocks are always within tags. */
function isInRange(range: LogFilter['range'], number: number, hash: Hash): boolean {
  if (range.kind === 'block') return hash === range.hash
  const { from, to } = range
  return (from.kind !== 'number' || number >= from.number) && (to.kind !== 'number' || number <= to.number)
}

const nothing: readonly LocatedLog[] = []

function matchedIn(context: EthContext, view: ChainView, hash: Hash, matcher: LogMatcher): readonly LocatedLog[] {
  const bloom = view.header(hash)?.logsBloom
  if (bloom === undefined || !matcher.mayBeIn(bloom)) return nothing
  const all = context.filters.logsOf(hash, () => logsOfBlock(context, view, hash))
  return all.filter(({ log }) => matcher.matches(log))
}

function collectLogs(context: EthContext, { range, use: { matcher, matched } }: LogsFilter): Collect<LocatedLog> {
  return {
    added(view, block): ReturnType<Collect<LocatedLog>['added']> {
      if (!isInRange(range, block.number, block.hash)) return { items: nothing, cost: 0 }
      const known = matched.last?.hash === block.hash ? matched.last.logs : undefined
      if (known) return { items: known, cost: 0 }
      const items = matchedIn(context, view, block.hash, matcher)
      matched.add(block, items)
      return { items, cost: items.length === 0 ? 0 : receiptsCost }
    },
    removed: (block) => (isInRange(range, block.number, block.hash) ? matched.in(block) : nothing),
    sizeOf: logTextBytes,
  }
}

const blockHashes: Collect<Hash> = {
  added: (_view, { hash }) => ({ items: [hash], cost: 0 }),
  removed: () => [],
  sizeOf: (hash) => hash.length,
}

/**
 * Advances a filter to what the client gets now.
 * @throws RpcError −32002 when the call was cancelled: its answer is not sent
 */
function advance(context: EthContext, filter: Exclude<Filter, { kind: 'pending' }>, trail: Trail): void {
  throwIfCancelled(context.cancellation)
  filter.trail = trail
}

/** Logs since the last poll; those removed by a reorg come first. */
export async function newLogs(
  context: EthContext,
  filter: LogsFilter,
): Promise<{ readonly logs: readonly LocatedLog[]; readonly isEnd: boolean }> {
  const { removed, added, trail, isEnd } = await followChain(context, filter.trail, context.limits.logResults, collectLogs(context, filter))
  advance(context, filter, trail)
  return { logs: [...removed.map((log) => ({ ...log, isRemoved: true })), ...added], isEnd }
}

async function changesOf(context: EthContext, filter: Filter): Promise<readonly (Hash | LocatedLog)[]> {
  const { logBlocks } = context.limits
  switch (filter.kind) {
    case 'pending': {
      throwIfCancelled(context.cancellation)
      const { pending } = context.filters
      const hashes = pending.since(filter.next)
      filter.next = pending.end
      return hashes
    }
    case 'blocks': {
      const { added, trail } = await followChain(context, filter.trail, logBlocks, blockHashes)
      advance(context, filter, trail)
      return added
    }
    case 'logs':
      return (await newLogs(context, filter)).logs
  }
}

const changeResult: WrittenCodec<Hash | LocatedLog> = written(
  'hash of a block or of a transaction, or log',
  { anyOf: [refTo('Hash'), refTo('Log')] },
  (value) => (typeof value === 'string' ? `"${value}"` : logText(value)),
)

const getFilterChanges = ethMethod({
  name: 'eth_getFilterChanges',
  doc: 'Changes since the last poll: block hashes, transaction hashes, or logs. After a reorg, removed logs come first, with `removed` true.',
  params: [id],
  result: writtenList(changeResult),
  cost: 'range-read',
  example: { params: [exampleId] },
  run: (context, of) => context.filters.ask(of, (filter) => changesOf(context, filter)),
})

const getFilterLogs = ethMethod({
  name: 'eth_getFilterLogs',
  doc: 'All logs that match a filter, like eth_getLogs with the criteria of the filter.',
  params: [id],
  result: asBytes(writtenList(logResult)),
  cost: 'range-read',
  example: { params: [exampleId] },
  run: (context, of) =>
    context.filters.ask(of, (filter) => {
      if (filter.kind !== 'logs') throw filterNotFound()
      const { range, use } = filter
      return searchLogs(context, { range, ...use.wanted }, use.matcher)
    }),
})

export const filterMethods: readonly Method<EthContext>[] = [
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
]

import { blockId } from '../../codecs/blockId.ts'
import { hash } from '../../codecs/values.ts'
import { RpcError } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { param } from '../../registry.ts'
import { nullable, refTo } from '../../schemas.ts'
import { anyJson } from '../debug/anyJson.ts'
import { tracesOf } from '../debug/traceBlock.ts'
import { tracedResult, whenReady } from '../debug/tracedResult.ts'
import { findTransaction, tracingOf } from '../debug/traceTransaction.ts'
import { ethMethod } from '../define.ts'
import { blockAt } from './blocks.ts'
import { askedFor, parityRequest, textItems, traceTypes } from './parityResult.ts'

export const replayTransaction = ethMethod({
  name: 'trace_replayTransaction',
  doc: 'Re-executes a transaction of the canonical chain, and returns its output, calls and state changes.',
  params: [param('hash', hash), param('types', traceTypes)],
  result: anyJson(
    '{output, stateDiff, trace, vmTrace}; parts that were not requested are null or an empty list',
    nullable(refTo('TransactionTrace')),
  ),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, ['trace']] },
  run(context, of, types): Json | Promise<Json> {
    const place = findTransaction(context, of)
    if (place === undefined) throw new RpcError(-32001, 'transaction not found')
    const tracing = tracingOf(context, place.block)
    const trace = (): Json => askedFor(tracedResult(tracing.trace(place.index, parityRequest(types), context.executor.timer())), types)
    return whenReady(context.cancellation, () => tracing.prepare(place.index), trace)
  },
})

export const replayBlockTransactions = ethMethod({
  name: 'trace_replayBlockTransactions',
  doc: 'Like trace_replayTransaction, for all transactions of a block.',
  params: [param('block', blockId), param('types', traceTypes)],
  result: textItems('list of {output, stateDiff, trace, vmTrace, transactionHash}; null for an unknown block'),
  cost: 'trace',
  example: { params: ['0x0', ['trace']], result: [] },
  async run(context, at, types): Promise<readonly string[] | undefined> {
    const block = blockAt(context, at)
    if (block === undefined) return undefined
    if (block.number === 0) return []
    const tracing = tracingOf(context, block)
    return await tracesOf(context, tracing, parityRequest(types), (index, result) =>
      JSON.stringify({ ...askedFor(result, types), transactionHash: tracing.hashes[index] }),
    )
  },
})

import { blockId } from '../../codecs/blockId.ts'
import { anyJson, hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { RpcError } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { nullable, refTo } from '../../reference/schemas.ts'
import { type Method, param } from '../../registry.ts'
import { findTransaction, textItems, traceAt, tracesOf, tracingOf } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt } from '../eth/atBlock.ts'
import { askedFor, parityRequest, traceTypes } from './parityResult.ts'

const replayTransaction = ethMethod({
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
    return traceAt(context, place, parityRequest(types), (result) => askedFor(result, types))
  },
})

const replayBlockTransactions = ethMethod({
  name: 'trace_replayBlockTransactions',
  doc: 'Like trace_replayTransaction, for all transactions of a block.',
  params: [param('block', blockId), param('types', traceTypes)],
  result: textItems('list of {output, stateDiff, trace, vmTrace, transactionHash}; null for an unknown block'),
  cost: 'trace',
  example: { params: ['0x0', ['trace']], result: [] },
  async run(context, at, types): Promise<readonly string[] | undefined> {
    const block = blockIdAt(context, at)
    if (block === undefined) return undefined
    if (block.number === 0) return []
    const tracing = tracingOf(context, block)
    return await tracesOf(context, tracing, parityRequest(types), (index, result) =>
      JSON.stringify({ ...askedFor(result, types), transactionHash: tracing.hashes[index] }),
    )
  },
})

export const replayMethods: readonly Method<EthContext>[] = [replayTransaction, replayBlockTransactions]

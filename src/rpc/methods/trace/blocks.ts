import type { BlockId } from '#types/blockRef'
import type { TransactionLocation } from '#types/chainView'
import { blockId } from '../../codecs/blockId.ts'
import { anyJson, hash, listOf, position } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import { list, nullable, refTo } from '../../reference/schemas.ts'
import { type Method, param } from '../../registry.ts'
import { findTransaction, textItems, traceAt, tracesOf, tracingOf } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt, shownBlock } from '../eth/atBlock.ts'
import { type JsonCall, localized, parityRequest, textOf } from './parityResult.ts'

const calls = { trace: true, stateDiff: false }

/** Calls of a block that `keep` accepts, in order; one JSON text per transaction. */
export async function callsOfBlock(
  context: EthContext,
  block: BlockId,
  keep: (call: JsonCall) => boolean,
  maxLength?: number,
): Promise<readonly string[]> {
  if (block.number === 0) return []
  const tracing = tracingOf(context, block)
  const shown = shownBlock(context, block)
  const textAt = (index: number, result: Json): string | undefined =>
    textOf(localized(result, { block: shown, hash: tracing.hashes[index], index }).filter(keep))
  return await tracesOf(context, tracing, parityRequest(calls), textAt, maxLength)
}

const traceBlockCalls = ethMethod({
  name: 'trace_block',
  doc: 'Flat list of the calls of all transactions of a block.',
  params: [param('block', blockId)],
  result: textItems('list of calls with their positions; null for an unknown block'),
  cost: 'trace',
  example: { params: ['0x0'], result: [] },
  async run(context, at): Promise<readonly string[] | undefined> {
    const block = blockIdAt(context, at)
    return block && callsOfBlock(context, block, () => true)
  },
})

function callsAt(context: EthContext, place: TransactionLocation): readonly JsonCall[] | Promise<readonly JsonCall[]> {
  const { index } = place
  const block = shownBlock(context, place.block)
  return traceAt(context, place, parityRequest(calls), (result, hash) => localized(result, { block, hash, index }))
}

const traceTransactionCalls = ethMethod({
  name: 'trace_transaction',
  doc: 'Flat list of the calls of a transaction of the canonical chain.',
  params: [param('hash', hash)],
  result: anyJson('list of calls with their positions; null for an unknown transaction', nullable(list(refTo('LocatedCall')))),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  async run(context, of): Promise<Json> {
    const place = findTransaction(context, of)
    return place === undefined ? null : await callsAt(context, place)
  },
})

const traceGet = ethMethod({
  name: 'trace_get',
  doc: 'One call of a transaction, by its index in the list of trace_transaction.',
  params: [param('hash', hash), param('indices', listOf(position, 1_024))],
  result: anyJson('call; null when it does not exist, and for more than one index', nullable(refTo('LocatedCall'))),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, ['0x0']], result: null },
  async run(context, of, indices): Promise<Json> {
    const [index] = indices
    const place = findTransaction(context, of)
    if (place === undefined || index === undefined || indices.length > 1) return null
    return (await callsAt(context, place))[index] ?? null
  },
})

export const blockMethods: readonly Method<EthContext>[] = [traceBlockCalls, traceTransactionCalls, traceGet]

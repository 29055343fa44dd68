import { blockId } from '../../codecs/blockId.ts'
import { hash } from '../../codecs/values.ts'
import type { Json } from '../../json.ts'
import { param, type TextCodec } from '../../registry.ts'
import { nullable, object, refTo } from '../../schemas.ts'
import { anyJson } from '../debug/anyJson.ts'
import { tracesOf } from '../debug/traceBlock.ts'
import { tracedResult, whenReady } from '../debug/tracedResult.ts'
import { findTransaction, tracingOf } from '../debug/traceTransaction.ts'
import { ethMethod } from '../define.ts'
import { shownBlock } from '../eth/atBlock.ts'
import { blockAt } from './blocks.ts'

const gasSchema = object('gas by opcode', { transactionHash: refTo('Hash'), opcodeGas: { type: 'array' } })
const request = { tracer: 'opcodeGasTracer' }

export const transactionOpcodeGas = ethMethod({
  name: 'trace_transactionOpcodeGas',
  doc: 'Number of executions and gas of each opcode in a transaction of the canonical chain.',
  params: [param('hash', hash)],
  result: anyJson('{transactionHash, opcodeGas: [{opcode, count, gasUsed}]}; null for an unknown transaction', nullable(gasSchema)),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run(context, of): Json | Promise<Json> {
    const place = findTransaction(context, of)
    if (place === undefined) return null
    const tracing = tracingOf(context, place.block)
    const trace = (): Json => ({
      transactionHash: of,
      opcodeGas: tracedResult(tracing.trace(place.index, request, context.executor.timer())),
    })
    return whenReady(context.cancellation, () => tracing.prepare(place.index), trace)
  },
})

const blockResult: TextCodec<string | undefined> = {
  doc: '{blockHash, blockNumber, transactions}: results of trace_transactionOpcodeGas for each transaction; null for an unknown block',
  schema: { type: ['object', 'null'] },
  text: (value) => value ?? 'null',
}

export const blockOpcodeGas = ethMethod({
  name: 'trace_blockOpcodeGas',
  doc: 'Like trace_transactionOpcodeGas, for all transactions of a block.',
  params: [param('block', blockId)],
  result: blockResult,
  cost: 'trace',
  example: { params: ['0xffffff'], result: null },
  async run(context, at): Promise<string | undefined> {
    const block = blockAt(context, at)
    if (block === undefined) return undefined
    const tracing = tracingOf(context, block)
    const shown = shownBlock(context, block)
    const items = await tracesOf(context, tracing, request, (index, opcodeGas) =>
      JSON.stringify({ transactionHash: tracing.hashes[index], opcodeGas }),
    )
    return `{"blockHash":"${shown.hash}","blockNumber":${block.number},"transactions":[${items.join(',')}]}`
  },
})

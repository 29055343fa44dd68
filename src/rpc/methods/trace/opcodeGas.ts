import { blockId } from '../../codecs/blockId.ts'
import { anyJson, hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import { nullable, object, refTo } from '../../reference/schemas.ts'
import { type Method, param, type TextCodec } from '../../registry.ts'
import { findTransaction, traceAt, tracesOf, tracingOf } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt, shownBlock } from '../eth/atBlock.ts'

const gasSchema = object('gas by opcode', { transactionHash: refTo('Hash'), opcodeGas: { type: 'array' } })
const request = { tracer: 'opcodeGasTracer' }

const transactionOpcodeGas = ethMethod({
  name: 'trace_transactionOpcodeGas',
  doc: 'Number of executions and gas of each opcode in a transaction of the canonical chain.',
  params: [param('hash', hash)],
  result: anyJson('{transactionHash, opcodeGas: [{opcode, count, gasUsed}]}; null for an unknown transaction', nullable(gasSchema)),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run(context, of): Json | Promise<Json> {
    const place = findTransaction(context, of)
    if (place === undefined) return null
    return traceAt(context, place, request, (opcodeGas): Json => ({ transactionHash: of, opcodeGas }))
  },
})

const blockResult: TextCodec<string | undefined> = {
  doc: '{blockHash, blockNumber, transactions}: results of trace_transactionOpcodeGas for each transaction; null for an unknown block',
  schema: { type: ['object', 'null'] },
  text: (value) => value ?? 'null',
}

const blockOpcodeGas = ethMethod({
  name: 'trace_blockOpcodeGas',
  doc: 'Like trace_transactionOpcodeGas, for all transactions of a block.',
  params: [param('block', blockId)],
  result: blockResult,
  cost: 'trace',
  example: { params: ['0xffffff'], result: null },
  async run(context, at): Promise<string | undefined> {
    const block = blockIdAt(context, at)
    if (block === undefined) return undefined
    const tracing = tracingOf(context, block)
    const shown = shownBlock(context, block)
    const items = await tracesOf(context, tracing, request, (index, opcodeGas) =>
      JSON.stringify({ transactionHash: tracing.hashes[index], opcodeGas }),
    )
    return `{"blockHash":"${shown.hash}","blockNumber":${block.number},"transactions":[${items.join(',')}]}`
  },
})

export const opcodeGasMethods: readonly Method<EthContext>[] = [transactionOpcodeGas, blockOpcodeGas]

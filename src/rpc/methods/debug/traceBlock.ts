import { RlpError } from '#lib/rlp'
import { type Block, decodeBlock } from '#types/block'
import { blockNumberOrTag } from '../../codecs/blockId.ts'
import { traceOptions } from '../../codecs/traceOptions.ts'
import { bytes, hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, invalidParams } from '../../errors.ts'
import { type Method, optionalParam, param } from '../../registry.ts'
import type { BlockTracing, TraceRequest } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt, ofHash, requireBlockAt } from '../eth/atBlock.ts'
import { textItems, tracesOf, tracingOf } from './tracing.ts'

const options = optionalParam('options', traceOptions, {}, 'struct logs')

const textList = { ...textItems('list of {txHash, result}, one per transaction, in order'), schema: { type: 'array' } }

const traceAll = (context: EthContext, tracing: BlockTracing, request: TraceRequest): Promise<readonly string[]> =>
  tracesOf(context, tracing, request, (index, result) => `{"txHash":"${tracing.hashes[index]}","result":${JSON.stringify(result)}}`)

const traceBlockByNumber = ethMethod({
  name: 'debug_traceBlockByNumber',
  doc: 'Re-executes all transactions of a canonical block and returns the trace of each.',
  params: [param('block', blockNumberOrTag), options],
  result: textList,
  cost: 'trace',
  example: { params: ['latest', { tracer: 'callTracer' }] },
  run: (context, at, request) => traceAll(context, tracingOf(context, requireBlockAt(context, at)), request),
})

const traceBlockByHash = ethMethod({
  name: 'debug_traceBlockByHash',
  doc: 'Like debug_traceBlockByNumber, for a block by its hash, canonical or not.',
  params: [param('hash', hash), options],
  result: textList,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, { tracer: 'callTracer' }] },
  run(context, of, request): Promise<readonly string[]> {
    const block = blockIdAt(context, ofHash(of))
    if (block === undefined) throw invalidInput(`block ${of} not found`)
    return traceAll(context, tracingOf(context, block), request)
  },
})

function decoded(rlp: Uint8Array): Block {
  try {
    return decodeBlock(rlp)
  } catch (error) {
    if (error instanceof RlpError) throw invalidParams(`failed to decode the block: ${error.message}`)
    throw error
  }
}

const traceBlock = ethMethod({
  name: 'debug_traceBlock',
  doc: 'Like debug_traceBlockByNumber, for a block given as RLP, whose parent this node has.',
  params: [param('rlp', bytes), options],
  result: textList,
  cost: 'trace',
  example: { params: ['0xc0'] },
  run(context, rlp, request): Promise<readonly string[]> {
    const block = decoded(rlp)
    if (block.header.number === 0) throw invalidInput('genesis is not traceable')
    requireBlockAt(context, ofHash(block.header.parentHash))
    return traceAll(context, context.tracing.given(block), request)
  },
})

export const traceBlockMethods: readonly Method<EthContext>[] = [traceBlockByNumber, traceBlockByHash, traceBlock]

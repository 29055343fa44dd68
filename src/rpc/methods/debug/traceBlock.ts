import { setImmediate as nextTurn } from 'node:timers/promises'
import { RlpError } from '#lib/rlp'
import { type Block, decodeBlock } from '#types/block'
import type { BlockId } from '#types/blockRef'
import { type BlockParam, blockNumberOrTag } from '../../codecs/blockId.ts'
import { traceOptions } from '../../codecs/traceOptions.ts'
import { bytes, hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, invalidParams, timedOut } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { optionalParam, param, type TextCodec } from '../../registry.ts'
import type { BlockTracing, TraceRequest } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { findBlock, requireBlock } from '../eth/atBlock.ts'
import { inTurns, tracedResult } from './tracedResult.ts'
import { tracingOf } from './traceTransaction.ts'

/** Maximum size of the traces of one block, in characters. */
export const maxBlockTraceLength = 128 * 2 ** 20

const options = optionalParam('options', traceOptions, {}, 'struct logs')

/** Each item is JSON text. */
const textList: TextCodec<readonly string[]> = {
  doc: 'list of {txHash, result}, one per transaction, in order',
  schema: { type: 'array' },
  text: (items) => `[${items.join(',')}]`,
}

/**
 * Traces all transactions of a block, one per turn of the event loop. Each trace is JSON text.
 * @param jsonOf JSON of one trace; undefined: leave it out
 * @throws RpcError when the traces exceed `maxLength` characters
 */
export async function tracesOf(
  context: EthContext,
  tracing: BlockTracing,
  request: TraceRequest,
  jsonOf: (index: number, result: Json) => string | undefined,
  maxLength = maxBlockTraceLength,
): Promise<readonly string[]> {
  const traces: string[] = []
  let length = 0
  for (let index = 0; index < tracing.hashes.length; index++) {
    await inTurns(context.cancellation, () => tracing.prepare(index))
    const trace = jsonOf(index, tracedResult(tracing.trace(index, request, context.executor.timer())))
    length += trace?.length ?? 0
    if (length > maxLength) throw invalidInput(`the traces are larger than ${maxLength} bytes`)
    if (trace !== undefined) traces.push(trace)
    await nextTurn()
    if (context.cancellation.isCancelled) throw timedOut()
  }
  return traces
}

const traceAll = (context: EthContext, tracing: BlockTracing, request: TraceRequest): Promise<readonly string[]> =>
  tracesOf(context, tracing, request, (index, result) => `{"txHash":"${tracing.hashes[index]}","result":${JSON.stringify(result)}}`)

function blockAt(context: EthContext, at: BlockParam): BlockId {
  using view = context.chain.view()
  return requireBlock(context, view, at)
}

export const traceBlockByNumber = ethMethod({
  name: 'debug_traceBlockByNumber',
  doc: 'Re-executes all transactions of a canonical block and returns the trace of each.',
  params: [param('block', blockNumberOrTag), options],
  result: textList,
  cost: 'trace',
  example: { params: ['latest', { tracer: 'callTracer' }] },
  run: (context, at, request) => traceAll(context, tracingOf(context, blockAt(context, at)), request),
})

export const traceBlockByHash = ethMethod({
  name: 'debug_traceBlockByHash',
  doc: 'Like debug_traceBlockByNumber, for a block by its hash, canonical or not.',
  params: [param('hash', hash), options],
  result: textList,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, { tracer: 'callTracer' }] },
  run(context, of, request): Promise<readonly string[]> {
    using view = context.chain.view()
    const block = findBlock(context, view, { kind: 'hash', hash: of, mustBeCanonical: false })
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

export const traceBlock = ethMethod({
  name: 'debug_traceBlock',
  doc: 'Like debug_traceBlockByNumber, for a block given as RLP, whose parent this node has.',
  params: [param('rlp', bytes), options],
  result: textList,
  cost: 'trace',
  example: { params: ['0xc0'] },
  run(context, rlp, request): Promise<readonly string[]> {
    const block = decoded(rlp)
    if (block.header.number === 0) throw invalidInput('genesis is not traceable')
    using view = context.chain.view()
    requireBlock(context, view, { kind: 'hash', hash: block.header.parentHash, mustBeCanonical: false })
    return traceAll(context, context.tracing.given(block), request)
  },
})

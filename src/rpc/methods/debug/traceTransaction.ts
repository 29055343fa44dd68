import type { TransactionLocation } from '#types/chainView'
import type { Hash } from '#types/ids'
import { traceOptions } from '../../codecs/traceOptions.ts'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, prunedHistory } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { optionalParam, param } from '../../registry.ts'
import { refTo } from '../../schemas.ts'
import type { BlockTracing } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { anyJson } from './anyJson.ts'
import { tracedResult, whenReady } from './tracedResult.ts'

/** Location of a transaction of the canonical chain. */
export function findTransaction(context: EthContext, of: Hash): TransactionLocation | undefined {
  using view = context.chain.view()
  return view.transaction(of)
}

/** Tracing of a known block. @throws RpcError −32000 for the genesis block, 4444 when the block is pruned */
export function tracingOf(context: EthContext, block: TransactionLocation['block']): BlockTracing {
  if (block.number === 0) throw invalidInput('genesis is not traceable')
  const tracing = context.tracing.known(block.hash)
  if (tracing === undefined) throw prunedHistory()
  return tracing
}

export const traceTransaction = ethMethod({
  name: 'debug_traceTransaction',
  doc: 'Re-executes a transaction of the canonical chain and returns its trace.',
  params: [param('hash', hash), optionalParam('options', traceOptions, {}, 'struct logs')],
  result: anyJson('result of the tracer', refTo('TracerResult')),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, { tracer: 'callTracer' }] },
  run(context, of, request): Json | Promise<Json> {
    const place = findTransaction(context, of)
    if (place === undefined) throw invalidInput('transaction not found')
    const tracing = tracingOf(context, place.block)
    const trace = (): Json => tracedResult(tracing.trace(place.index, request, context.executor.timer()))
    return whenReady(context.cancellation, () => tracing.prepare(place.index), trace)
  },
})

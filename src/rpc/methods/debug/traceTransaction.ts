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

/** Where a transaction of the canonical chain stands. */
export function findTransaction(context: EthContext, of: Hash): TransactionLocation | undefined {
  using view = context.chain.view()
  return view.transaction(of)
}

/** A block that the chain has, to be run again. RpcError −32000 of the genesis block, 4444 when it is gone. */
export function tracingOf(context: EthContext, block: TransactionLocation['block']): BlockTracing {
  if (block.number === 0) throw invalidInput('genesis is not traceable')
  const tracing = context.tracing.known(block.hash)
  if (tracing === undefined) throw prunedHistory()
  return tracing
}

export const traceTransaction = ethMethod({
  name: 'debug_traceTransaction',
  doc: 'Runs a transaction of the canonical chain again and tells what it did on the way.',
  params: [param('hash', hash), optionalParam('options', traceOptions, {}, 'struct logs')],
  result: anyJson('what the tracer says', refTo('TracerResult')),
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

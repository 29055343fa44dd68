import type { CallMessage, CallOverrides } from '../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { type CallRequest, callRequest } from '../../codecs/callRequest.ts'
import { type CallTraceOptions, callTraceOptions } from '../../codecs/traceOptions.ts'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import { optionalParam, param } from '../../registry.ts'
import { refTo } from '../../schemas.ts'
import type { CallContext } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { atCallPlace } from '../eth/calls/callBasis.ts'
import { planCall } from '../eth/calls/planCall.ts'
import { anyJson } from './anyJson.ts'
import { tracedResult, whenReady } from './tracedResult.ts'

/** Message of a request, and the block to run it on. */
export function planAt(
  context: EthContext,
  request: CallRequest,
  at: BlockParam,
  overrides: CallOverrides,
): { readonly block: CallContext['block']; readonly message: CallMessage } {
  return atCallPlace(context, at, ({ block, basis }) => ({ block, message: planCall(request, basis(request, overrides)) }))
}

export const plainTrace: CallTraceOptions = { request: {}, state: undefined, block: undefined, index: undefined }

export const traceCall = ethMethod({
  name: 'debug_traceCall',
  doc: 'Runs a message like eth_call, and returns its trace.',
  params: [
    param('transaction', callRequest),
    optionalParam('block', blockId, latest, 'latest'),
    optionalParam('options', callTraceOptions, plainTrace, 'struct logs'),
  ],
  result: anyJson('result of the tracer', refTo('TracerResult')),
  cost: 'trace',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest', { tracer: 'callTracer' }] },
  run(context, call, at, { request, index, ...overrides }): Json | Promise<Json> {
    const { block, message } = planAt(context, call, at, overrides)
    const calls = context.tracing.calls({ block, transactions: index })
    const trace = (): Json => tracedResult(calls.trace(message, request, context.executor.timer(), overrides), message)
    return whenReady(context.cancellation, () => calls.prepare(), trace)
  },
})

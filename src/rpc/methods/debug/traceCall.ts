import { blockId, latest } from '../../codecs/blockId.ts'
import { callRequest } from '../../codecs/callRequest.ts'
import { type CallTraceOptions, callTraceOptions } from '../../codecs/traceOptions.ts'
import { anyJson } from '../../codecs/values.ts'
import type { Json } from '../../json.ts'
import { refTo } from '../../reference/schemas.ts'
import { optionalParam, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { planAt } from '../eth/calls/callBasis.ts'
import { whenReady } from '../turns.ts'
import { traceOfCall } from './tracing.ts'

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
    return whenReady(
      context.cancellation,
      () => calls.prepare(),
      () => traceOfCall(context, calls, message, request, overrides),
    )
  },
})

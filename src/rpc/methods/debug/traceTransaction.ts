import { traceOptions } from '../../codecs/traceOptions.ts'
import { anyJson, hash } from '../../codecs/values.ts'
import { invalidInput } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { refTo } from '../../reference/schemas.ts'
import { optionalParam, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { findTransaction, traceAt } from './tracing.ts'

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
    return traceAt(context, place, request, (result) => result)
  },
})

import { RlpError } from '#lib/rlp'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType } from '#types/transaction'
import type { CallOverrides, CallRequest } from '../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { blockOverrides } from '../../codecs/blockOverride.ts'
import { callRequest } from '../../codecs/callRequest.ts'
import { within } from '../../codecs/paramError.ts'
import { stateOverrides } from '../../codecs/stateOverride.ts'
import { anyJson, bytes, listOf, wrongType } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidParams } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { list, refTo } from '../../reference/schemas.ts'
import { type Method, optionalParam, type ParamCodec, param } from '../../registry.ts'
import { TraceBound, traceOfCall } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { onSteadyBlock } from '../eth/atBlock.ts'
import { planAt } from '../eth/calls/callBasis.ts'
import { askedFor, parityRequest, type TraceTypes, traceTypes } from './parityResult.ts'

const result = anyJson(
  '{output, stateDiff, trace, vmTrace}; parts that were not requested are null or an empty list',
  refTo('TransactionTrace'),
)
const block = optionalParam('block', blockId, latest, 'latest')

function traceOne(context: EthContext, request: CallRequest, types: TraceTypes, at: BlockParam, overrides: CallOverrides): Json {
  const { block: on, message } = planAt(context, request, at, overrides)
  return askedFor(traceOfCall(context, context.tracing.calls({ block: on }), message, parityRequest(types), overrides), types)
}

const traceCallCalls = ethMethod({
  name: 'trace_call',
  doc: 'Runs a message like eth_call, and returns its output, calls and state changes.',
  params: [
    param('transaction', callRequest),
    param('types', traceTypes),
    block,
    optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
    optionalParam('blockOverrides', blockOverrides, undefined, 'none'),
  ],
  result,
  cost: 'trace',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, ['trace'], 'latest'] },
  run(context, request, types, at, state, environment): Json {
    const overrides = { state, block: environment }
    return traceOne(context, request, types, at, overrides)
  },
})

/** Maximum number of calls per request. */
const maxCalls = 1_000
type Asked = { readonly request: CallRequest; readonly types: TraceTypes }

const asked: ParamCodec<Asked> = {
  doc: '[transaction, types]',
  schema: { type: 'array' },
  parse(value): Asked {
    if (!Array.isArray(value)) throw wrongType(value, 'a list of a transaction and trace types')
    return { request: within(0, () => callRequest.parse(value[0])), types: within(1, () => traceTypes.parse(value[1])) }
  },
}

async function traceMany(context: EthContext, requests: readonly Asked[], at: BlockParam): Promise<Json> {
  const first = planAt(context, requests[0]?.request ?? {}, at, {})
  const here: BlockParam = { kind: 'found', block: first.block }
  const calls = context.tracing.calls({ block: first.block })
  const results: Json[] = []
  const bound = new TraceBound(context)
  for (const { request, types } of requests) {
    const { message } = planAt(context, request, here, {})
    const one = askedFor(traceOfCall(context, calls, message, parityRequest(types)), types)
    results.push(one)
    await bound.count(JSON.stringify(one).length)
  }
  return results
}

const traceCallMany = ethMethod({
  name: 'trace_callMany',
  doc: 'Like trace_call for several messages, each on the state left by the previous one.',
  params: [param('calls', listOf(asked, maxCalls)), block],
  result: anyJson('for each call, the result of trace_call', list(refTo('TransactionTrace'))),
  cost: 'trace',
  example: { params: [[[{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, ['trace']]], 'latest'] },
  run: (context, requests, at) => onSteadyBlock(at, () => traceMany(context, requests, at)),
})

/** A signed transaction as an equivalent call request. */
function requestOf(raw: Uint8Array): CallRequest {
  const tx = decoded(raw)
  if (tx.type === depositType || tx.type === 3) throw invalidParams('transaction type not supported')
  const sender = recoverSender(tx)
  if (sender === undefined) throw invalidParams('invalid transaction signature')
  const { to, value, data, gasLimit } = tx
  const price =
    tx.type === 0 || tx.type === 1
      ? { gasPrice: tx.gasPrice }
      : { maxFeePerGas: tx.maxFeePerGas, maxPriorityFeePerGas: tx.maxPriorityFeePerGas }
  return {
    ...{ from: sender, to: to ?? undefined, value, data, gas: gasLimit, ...price },
    accessList: tx.type === 0 ? undefined : tx.accessList,
    authorizationList: tx.type === 4 ? tx.authorizationList : undefined,
  }
}

function decoded(raw: Uint8Array): ReturnType<typeof decodeTransaction> {
  try {
    return decodeTransaction(raw)
  } catch (error) {
    if (error instanceof RlpError) throw invalidParams('failed to decode signed transaction')
    throw error
  }
}

const rawTransaction = ethMethod({
  name: 'trace_rawTransaction',
  doc: 'Like trace_call, for a signed transaction. Its nonce is not checked.',
  params: [param('bytes', bytes), param('types', traceTypes), block],
  result,
  cost: 'trace',
  example: { params: ['0x02', ['trace']] },
  run(context, raw, types, at): Json {
    return traceOne(context, requestOf(raw), types, at, {})
  },
})

export const callMethods: readonly Method<EthContext>[] = [traceCallCalls, traceCallMany, rawTransaction]

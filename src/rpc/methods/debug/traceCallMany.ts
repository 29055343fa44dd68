import type { BlockOverrides, CallRequest } from '../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { blockOverrides } from '../../codecs/blockOverride.ts'
import { callRequest } from '../../codecs/callRequest.ts'
import { member, objectOf, required } from '../../codecs/members.ts'
import { type CallTraceOptions, callTraceOptions } from '../../codecs/traceOptions.ts'
import { anyJson, listOf, position } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { list, refTo } from '../../reference/schemas.ts'
import { optionalParam, type ParamCodec, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { onSteadyBlock } from '../eth/atBlock.ts'
import { planAt } from '../eth/calls/callBasis.ts'
import { inTurns } from '../turns.ts'
import { plainTrace } from './traceCall.ts'
import { TraceBound, traceOfCall } from './tracing.ts'

/** Maximum number of calls per request. */
const maxCalls = 1_000

type Bundle = { readonly calls: readonly CallRequest[]; readonly block: BlockOverrides | undefined }
const calls = listOf(callRequest, maxCalls)

const bundle: ParamCodec<Bundle> = {
  doc: '{transactions, blockOverride}',
  schema: { type: 'object' },
  parse(value): Bundle {
    const given = objectOf(value, 'a bundle of transactions')
    return { calls: required(given, 'transactions', calls), block: member(given, 'blockOverride', blockOverrides) }
  },
}

type StateContext = { readonly at: BlockParam; readonly index: number | undefined }
const afterAll: StateContext = { at: latest, index: undefined }

const stateContext: ParamCodec<StateContext> = {
  doc: '{blockNumber: a block, transactionIndex: the transaction of the block before which the calls run; -1: after all of them}',
  schema: { type: 'object' },
  parse(given): StateContext {
    const value = objectOf(given, 'a state context')
    const { transactionIndex } = value
    const index = transactionIndex === -1 || transactionIndex === '-1' ? undefined : member(value, 'transactionIndex', position)
    return { at: member(value, 'blockNumber', blockId) ?? latest, index }
  },
}

/** Traces the calls in sequence. The sender's balance in their plans is that before the first call, as in eth_callMany. */
async function traceBundles(
  context: EthContext,
  bundles: readonly Bundle[],
  { at, index }: StateContext,
  options: CallTraceOptions,
): Promise<Json> {
  if (bundles.reduce((sum, each) => sum + each.calls.length, 0) > maxCalls) throw invalidInput(`more than ${maxCalls} calls`)
  const first = planAt(context, bundles[0]?.calls[0] ?? {}, at, { state: options.state })
  const place = { block: first.block, transactions: index }
  const tracing = context.tracing.calls(place)
  await inTurns(context.cancellation, () => tracing.prepare())
  const here: BlockParam = { kind: 'found', block: first.block }
  const { state } = options
  const results: Json[][] = []
  let isFirst = true
  const bound = new TraceBound(context)
  for (const { calls: requests, block } of bundles) {
    const traces: Json[] = []
    for (const request of requests) {
      const environment = block ?? options.block
      const { message } = planAt(context, request, here, { state, block: environment })
      const overrides = { state: isFirst ? state : undefined, block: environment }
      const trace = traceOfCall(context, tracing, message, options.request, overrides)
      traces.push(trace)
      isFirst = false
      await bound.count(JSON.stringify(trace).length)
    }
    results.push(traces)
  }
  return results
}

export const traceCallMany = ethMethod({
  name: 'debug_traceCallMany',
  doc: 'Runs messages in sequence, each on the state left by the previous one, and returns the trace of each.',
  params: [
    param('bundles', listOf(bundle, maxCalls)),
    optionalParam('stateContext', stateContext, afterAll, 'after the latest block'),
    optionalParam('options', callTraceOptions, plainTrace, 'struct logs'),
  ],
  result: anyJson('for each bundle, the list of the traces of its calls', list(list(refTo('TracerResult')))),
  cost: 'trace',
  example: {
    params: [[{ transactions: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }] }], { blockNumber: 'latest' }],
  },
  run: (context, bundles, place, options) => onSteadyBlock(place.at, () => traceBundles(context, bundles, place, options)),
})

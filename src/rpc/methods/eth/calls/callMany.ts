import { toHex } from '#lib/hex'
import type { BlockOverrides, CallBundle, CallMessage, CallOutcome, CallPlace, CallRequest, StateOverrides } from '../../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../../codecs/blockId.ts'
import { blockOverrides } from '../../../codecs/blockOverride.ts'
import { callRequest } from '../../../codecs/callRequest.ts'
import { member, objectOf } from '../../../codecs/members.ts'
import { ParamError } from '../../../codecs/paramError.ts'
import { stateOverrides } from '../../../codecs/stateOverride.ts'
import { listOf } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { unsupported } from '../../../errors.ts'
import { refTo } from '../../../reference/schemas.ts'
import { optionalParam, type ParamCodec, param, type ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { prunedStateNow } from '../atBlock.ts'
import { atCallPlace } from './callBasis.ts'
import { failureOf } from './callErrors.ts'
import { planCall } from './planCall.ts'

type Bundle = { readonly transactions: readonly CallRequest[]; readonly block: BlockOverrides }

const maxBundles = 64
/** Over all bundles. */
const maxMessages = 1_024

const bundle: ParamCodec<Bundle> = {
  doc: '{transactions, blockOverride}',
  parse(value): Bundle {
    const given = objectOf(value, 'a bundle of transactions')
    return {
      transactions: member(given, 'transactions', listOf(callRequest, maxMessages)) ?? [],
      block: member(given, 'blockOverride', blockOverrides) ?? {},
    }
  },
}

const bundles: ParamCodec<readonly Bundle[]> = {
  doc: `list of at most ${maxBundles} bundles {transactions, blockOverride} with at most ${maxMessages} transactions in total`,
  schema: { type: 'array', maxItems: maxBundles, items: { type: 'object', required: ['transactions'] } },
  parse(value): readonly Bundle[] {
    const parsed = listOf(bundle, maxBundles).parse(value)
    const messages = parsed.reduce((sum, { transactions }) => sum + transactions.length, 0)
    if (messages > maxMessages) throw new ParamError(`${messages} transactions, at most ${maxMessages} allowed`, 'senseless')
    return parsed
  },
}

/** Codec of the position at which the first message runs. */
const stateContext: ParamCodec<BlockParam> = {
  doc: '{blockNumber: block, transactionIndex: -1 (after the whole block)}',
  schema: { type: 'object' },
  parse(value): BlockParam {
    const given = objectOf(value, 'an object that names a block')
    const { transactionIndex: index } = given
    if (index !== undefined && index !== null && index !== -1) throw unsupported('a state between the transactions of a block')
    return member(given, 'blockNumber', blockId) ?? latest
  },
}

/** Result of one message. */
type Answer = { readonly value: Uint8Array } | { readonly error: string | undefined }

const manyResult: ResultCodec<readonly (readonly Answer[])[]> = {
  doc: 'for each bundle a list with {value: return data} or {error: reason} for each message',
  schema: {
    type: 'array',
    items: { type: 'array', items: { type: 'object', properties: { value: refTo('Bytes'), error: { type: 'string' } } } },
  },
  encode: (all) => all.map((answers) => answers.map((answer) => ('value' in answer ? { value: toHex(answer.value) } : answer))),
}

/** @throws RpcError for a message that could not start */
function answersOf({ messages }: CallBundle, outcomes: readonly CallOutcome[]): Answer[] {
  return outcomes.map((outcome, i) =>
    outcome.kind === 'success' ? { value: outcome.output } : { error: failureOf(outcome, messages[i] as CallMessage) },
  )
}

type Plan = { readonly block: CallPlace; readonly bundles: readonly CallBundle[] }

/** Plans of all messages. The sender's balance is that before the first message. */
function planAll(context: EthContext, given: readonly Bundle[], at: BlockParam, state: StateOverrides | undefined): Plan {
  return atCallPlace(context, at, ({ block, basis }) => ({
    block,
    bundles: given.map(({ transactions, block: environment }) => ({
      messages: transactions.map((request) => planCall(request, basis(request, { state, block: environment }))),
      block: environment,
    })),
  }))
}

export const callMany = ethMethod({
  name: 'eth_callMany',
  doc: 'Runs bundles of messages on the state after a block, each message on the state left by the previous ones, without changing anything. A failed message does not stop the others; a message that cannot start is an error. Messages that together return more than 16 MB of data are refused.',
  params: [
    param('bundles', bundles),
    optionalParam('stateContext', stateContext, latest, 'latest'),
    optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
  ],
  result: manyResult,
  cost: 'execution',
  example: {
    params: [[{ transactions: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }] }], { blockNumber: 'latest' }],
    result: [[{ value: '0x2a' }]],
  },
  run(context, given, at, state): readonly (readonly Answer[])[] {
    const { block, bundles: planned } = planAll(context, given, at, state)
    const all = context.calls.many(block, planned, context.executor.timer(), state)
    if (all === undefined) throw prunedStateNow(context)
    return all.map((outcomes, i) => answersOf(planned[i] as CallBundle, outcomes))
  },
})

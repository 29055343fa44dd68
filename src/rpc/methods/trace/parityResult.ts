import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { ParamError } from '../../codecs/paramError.ts'
import { listOf, text } from '../../codecs/values.ts'
import { invalidInput, unsupported } from '../../errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json.ts'
import type { ParamCodec } from '../../registry.ts'
import type { TraceRequest } from '../../tracePorts.ts'

/** Requested parts of a transaction's trace. */
export type TraceTypes = { readonly trace: boolean; readonly stateDiff: boolean }

const names = ['trace', 'stateDiff', 'vmTrace']
const nameList = listOf(text, 10)

export const traceTypes: ParamCodec<TraceTypes> = {
  doc: 'list of: trace, stateDiff (vmTrace is not supported)',
  schema: { type: 'array', items: { enum: ['trace', 'stateDiff'] } },
  parse(value): TraceTypes {
    const types = nameList.parse(value)
    const unknown = types.find((type) => !names.includes(type))
    if (unknown !== undefined) throw new ParamError(`unknown variant \`${unknown}\`, expected one of \`trace\`, \`vmTrace\`, \`stateDiff\``)
    if (types.includes('vmTrace')) throw unsupported('vmTrace')
    return { trace: types.includes('trace'), stateDiff: types.includes('stateDiff') }
  },
}

export const parityRequest = ({ stateDiff }: TraceTypes): TraceRequest => ({ tracer: 'parityTracer', tracerConfig: { stateDiff } })

/** Result of the tracer for one transaction. */
export type ParityTrace = {
  readonly output: Json
  readonly stateDiff: Json
  readonly trace: readonly JsonCall[]
  readonly vmTrace: null
}
export type JsonCall = { readonly [key: string]: Json }

function parityTrace(result: Json): ParityTrace {
  if (!isJsonObject(result)) throw invalidInput('nothing was traced')
  return result as unknown as ParityTrace
}

/** The requested parts of a result. */
export function askedFor(result: Json, { trace }: TraceTypes): JsonCall {
  const { output, stateDiff, trace: calls, vmTrace } = parityTrace(result)
  return { output, stateDiff, trace: trace ? calls : [], vmTrace }
}

/** Position of a transaction. */
export type TracePlace = { readonly block: BlockId; readonly hash: Hash | undefined; readonly index: number }

/** Calls of a transaction with their positions. */
export function localized(result: Json, { block, hash, index }: TracePlace): readonly JsonCall[] {
  const place = { blockHash: block.hash, blockNumber: block.number, transactionHash: hash, transactionPosition: index }
  return parityTrace(result).trace.map(({ action, error, result: outcome, subtraces, traceAddress, type }) => ({
    action,
    ...{ blockHash: place.blockHash, blockNumber: place.blockNumber, error, result: outcome, subtraces, traceAddress },
    ...{ transactionHash: place.transactionHash, transactionPosition: place.transactionPosition, type },
  }))
}

/** Calls as items for `textItems`; undefined when there are none. */
export const textOf = (calls: readonly JsonCall[]): string | undefined =>
  calls.length === 0 ? undefined : calls.map((call) => JSON.stringify(call)).join(',')

export const memberOf = (call: JsonCall, of: string, name: string): string | undefined => {
  const part = call[of]
  const value = isJsonObject(part) ? (part as JsonObject)[name] : undefined
  return typeof value === 'string' ? value : undefined
}

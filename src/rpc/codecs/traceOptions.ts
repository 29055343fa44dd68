import type { BlockOverrides, StateOverrides } from '../callPorts.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'
import type { TraceRequest } from '../tracePorts.ts'
import { blockOverrides } from './blockOverride.ts'
import { member, stateOverrides } from './stateOverride.ts'
import { blockNumber, text, wrongType } from './values.ts'

/** A count, in hex or as a number. */
export const position: ParamCodec<number> = { doc: 'quantity', schema: refTo('Quantity'), parse: blockNumber }

const doc =
  '{tracer: callTracer, prestateTracer, 4byteTracer, flatCallTracer, muxTracer or noopTracer, tracerConfig}; without a tracer struct logs with {enableMemory, disableStack, disableStorage, enableReturnData, limit}'

function parseRequest(value: unknown): TraceRequest & JsonObject {
  if (!isJsonObject(value)) throw wrongType(value, 'an object of trace options')
  const { tracer, ...rest } = value
  const name = member(value, 'tracer', text)
  return name === undefined ? rest : { ...rest, tracer: name }
}

/** What a trace is to say. Which options there are is the tracer's to check. */
export const traceOptions: ParamCodec<TraceRequest> = { doc, schema: { type: 'object' }, parse: parseRequest }

/** What a traced call is to say, and what it is to find. */
export type CallTraceOptions = {
  readonly request: TraceRequest
  readonly state: StateOverrides | undefined
  readonly block: BlockOverrides | undefined
  /** the call stands before this transaction of the block; absent: after all of them */
  readonly index: number | undefined
}

export const callTraceOptions: ParamCodec<CallTraceOptions> = {
  doc: `${doc}; {stateOverrides, blockOverrides, txIndex}: what the call finds, and that it stands before this transaction of the block`,
  schema: { type: 'object' },
  parse(value): CallTraceOptions {
    const { stateOverrides: _state, blockOverrides: _block, txIndex: _index, ...request } = parseRequest(value)
    const options = value as JsonObject
    return {
      request,
      state: member(options, 'stateOverrides', stateOverrides),
      block: member(options, 'blockOverrides', blockOverrides),
      index: member(options, 'txIndex', position),
    }
  },
}

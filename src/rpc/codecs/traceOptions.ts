import type { BlockOverrides, StateOverrides } from '../callPorts.ts'
import type { JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import type { TraceRequest } from '../tracePorts.ts'
import { blockOverrides } from './blockOverride.ts'
import { member, objectOf } from './members.ts'
import { stateOverrides } from './stateOverride.ts'
import { position, text } from './values.ts'

const doc =
  '{tracer: callTracer, prestateTracer, 4byteTracer, flatCallTracer, muxTracer or noopTracer, tracerConfig}; without a tracer: struct logs, with {enableMemory, disableStack, disableStorage, enableReturnData, limit}'

function parseRequest(value: unknown): TraceRequest & JsonObject {
  const options = objectOf(value, 'an object of trace options')
  const { tracer, ...rest } = options
  const name = member(options, 'tracer', text)
  return name === undefined ? rest : { ...rest, tracer: name }
}

/** Codec of trace options. The tracer validates its own options. */
export const traceOptions: ParamCodec<TraceRequest> = { doc, schema: { type: 'object' }, parse: parseRequest }

/** Options of a traced call: trace request, overrides and position. */
export type CallTraceOptions = {
  readonly request: TraceRequest
  readonly state: StateOverrides | undefined
  readonly block: BlockOverrides | undefined
  /** runs the call before this transaction of the block; absent: after all of them */
  readonly index: number | undefined
}

export const callTraceOptions: ParamCodec<CallTraceOptions> = {
  doc: `${doc}; {stateOverrides, blockOverrides, txIndex}: overrides, and the transaction of the block before which the call runs`,
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

import type { AttributeValue, Span } from './span.ts'

type Json = Readonly<Record<string, unknown>>

/** Name and value as in `KeyValue`: 64-bit integers are texts. */
function attribute([key, value]: readonly [string, AttributeValue]): Json {
  if (typeof value === 'string') return { key, value: { stringValue: value } }
  if (typeof value === 'boolean') return { key, value: { boolValue: value } }
  return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }
}

const attributesOf = (values: Readonly<Record<string, AttributeValue>>): readonly Json[] => Object.entries(values).map(attribute)

/** Nanoseconds since 1970, with the precision of a microsecond. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`

/** SPAN_KIND_INTERNAL, STATUS_CODE_ERROR */
const [internal, failed] = [1, 2]

function spanJson({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes, error }: Span): Json {
  return {
    ...{ traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }), name, kind: internal },
    ...{ startTimeUnixNano: nanoseconds(startMs), endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)) },
    attributes: attributesOf(attributes),
    ...(error !== undefined && { status: { code: failed, message: error } }),
  }
}

/** Program that the spans are of. */
export type Resource = { readonly version: string; readonly attributes: Readonly<Record<string, AttributeValue>> }

/**
 * Returns the body of a request that exports spans.
 * @see OTLP specification 1, "OTLP/HTTP", "JSON Protobuf Encoding": ids are hex, enums are numbers, names are in lowerCamelCase
 */
export function exportRequest({ version, attributes }: Resource, spans: readonly Span[]): Json {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(attributes) },
        scopeSpans: [{ scope: { name: 'basalt', version }, spans: spans.map(spanJson) }],
      },
    ],
  }
}

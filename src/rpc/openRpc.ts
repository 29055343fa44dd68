import type { Json } from './json.ts'
import { costClasses, type Method, type Param } from './registry.ts'
import { type JsonSchema, namedSchemas } from './schemas.ts'

/** What the documents about methods need of one; every registry's methods fit. */
export type Documented = Pick<Method<never>, 'name' | 'doc' | 'params' | 'result' | 'cost' | 'example'>

/** The part of a method's name before the first `_` or `.`. */
export const namespaceOf = (name: string): string => name.slice(0, name.search(/[_.]|$/))

const paramDescriptor = ({ name, codec, fallback }: Param<unknown>): Json => ({
  name,
  description: fallback === undefined ? codec.doc : `${codec.doc}; default: ${fallback.doc}`,
  required: fallback === undefined,
  schema: codec.schema ?? {},
})

function examplesOf({ name, params, example }: Documented): Json {
  if (example.result === undefined) return []
  const given = example.params.map((value, index) => ({ name: params[index]?.name ?? `parameter ${index}`, value }))
  return [{ name, params: given, result: { name: 'result', value: example.result } }]
}

const methodObject = (method: Documented): Json => ({
  name: method.name,
  description: method.doc,
  tags: [{ name: namespaceOf(method.name) }],
  paramStructure: 'by-position',
  params: method.params.map(paramDescriptor),
  result: { name: 'result', description: method.result.doc, schema: method.result.schema ?? {} },
  examples: examplesOf(method),
  'x-cost': method.cost,
  'x-timeout-ms': costClasses[method.cost].timeoutMs,
})

/**
 * The methods of one server as an OpenRPC document. Where a schema says little, the description says what stands there.
 * @see https://spec.open-rpc.org, version 1.3.2
 */
export function openRpcDocument(methods: Iterable<Documented>): { readonly [key: string]: Json } {
  const schemas: Readonly<Record<string, JsonSchema>> = namedSchemas
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Basalt JSON-RPC',
      version: '1.0.0',
      description: 'What this server answers: HTTP and WebSocket, parameters by position.',
    },
    methods: Array.from(methods, methodObject),
    components: { schemas },
  }
}

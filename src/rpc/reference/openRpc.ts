import type { Json } from '../json.ts'
import { costClasses, type Method, type Param } from '../registry.ts'
import { type JsonSchema, namedSchemas } from './schemas.ts'

/** The parts of a method that documents use; the methods of every registry fit. */
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
 * OpenRPC document of the methods of one server. Where a schema is loose, the description has the format.
 * @see https://spec.open-rpc.org, version 1.3.2
 */
export function openRpcDocument(methods: Iterable<Documented>): { readonly [key: string]: Json } {
  const schemas: Readonly<Record<string, JsonSchema>> = namedSchemas
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Basalt JSON-RPC',
      version: '1.0.0',
      description: 'Methods of this server over HTTP and WebSocket, with parameters by position.',
    },
    methods: Array.from(methods, methodObject),
    components: { schemas },
  }
}

import type { Json } from '../../json.ts'
import { namespaceOf, openRpcDocument } from '../../reference/openRpc.ts'
import { createRegistry, type Method, methodsOf, type Registry } from '../../registry.ts'

/**
 * Registry of the given methods plus `rpc_modules` and `rpc.discover`, which describe exactly this registry.
 * Given methods with these names are replaced, so that a selection of another registry describes itself.
 */
export function withDiscovery<Context>(methods: Iterable<Method<Context>>): Registry<Context> {
  const define = methodsOf<Context>()
  const modules = define({
    name: 'rpc_modules',
    doc: 'Namespaces of this server with their versions.',
    params: [],
    result: {
      doc: 'object: name of a namespace → version',
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      encode: (names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, '1.0'])),
    },
    cost: 'instant',
    example: { params: [], result: { eth: '1.0', net: '1.0', rpc: '1.0', web3: '1.0' } },
    run: () => [...new Set([...registry.keys()].map(namespaceOf))].sort(),
  })
  let document: string | undefined
  const discover = define({
    name: 'rpc.discover',
    doc: 'OpenRPC document of this server: methods with parameters, results, costs and examples.',
    params: [],
    result: { doc: 'OpenRPC document', schema: { type: 'object', required: ['openrpc', 'info', 'methods'] }, text: (text: string) => text },
    cost: 'instant',
    example: { params: [] },
    run: () => {
      document ??= JSON.stringify(openRpcDocument(registry.values()))
      return document
    },
  })
  const others = [...methods].filter(({ name }) => name !== modules.name && name !== discover.name)
  const registry: Registry<Context> = createRegistry<Context>(others, [modules, discover])
  return registry
}

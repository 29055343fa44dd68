import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { mismatch } from '#test/harness/rpc/schemaJudge'
import { JsonText } from '../json.ts'
import { withDiscovery } from '../methods/rpc/discovery.ts'
import { adminRegistry, engineRegistry, ethRegistry, socketRegistry } from '../methods.ts'
import { namespaceOf, openRpcDocument } from './openRpc.ts'
import { namedSchemas } from './schemas.ts'

const context = fakeContext(fakeChain([[]]))
type Document = {
  readonly methods: readonly {
    readonly name: string
    readonly params: readonly { readonly required: boolean }[]
    readonly result: object
  }[]
  readonly components: { readonly schemas: object }
}

function discovered(registry: ReadonlyMap<string, { call(context: never, params: readonly unknown[]): unknown }>): Document {
  const answer = registry.get('rpc.discover')?.call(context as never, [])
  return JSON.parse(answer instanceof JsonText ? answer.text : '') as Document
}

it.each([
  ['HTTP', ethRegistry],
  ['WebSocket', socketRegistry],
  ['the engine port', engineRegistry],
])('rpc/reference/openRpc: rpc.discover over %s lists exactly the methods of that server', (_where, registry) => {
  expect(discovered(registry as never).methods.map(({ name }) => name)).toEqual([...registry.keys()])
})

it('rpc/reference/openRpc: rpc.discover lists the selected namespaces only', () => {
  const chosen = withDiscovery([...ethRegistry.values()].filter(({ name }) => /^(net|rpc)_/.test(name)))
  expect(chosen.get('rpc_modules')?.call(context, [])).toEqual({ net: '1.0', rpc: '1.0' })
  expect(discovered(chosen).methods.map(({ name }) => name)).toEqual([...chosen.keys()])
})

it('rpc/reference/openRpc: every reference resolves to a schema, and required parameters come first', () => {
  const document = openRpcDocument(socketRegistry.values())
  for (const [, name = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g))
    expect(namedSchemas).toHaveProperty(name)
  for (const { params } of discovered(socketRegistry).methods) {
    const optional = params.map(({ required }) => !required)
    expect(optional).toEqual([...optional].sort())
  }
})

it('rpc/reference/openRpc: every result and every parameter has a schema', () => {
  for (const { name, params, result } of [...socketRegistry.values(), ...engineRegistry.values(), ...adminRegistry.values()]) {
    expect([name, result.schema]).toEqual([name, expect.any(Object)])
    for (const { codec, name: of } of params) expect([name, of, codec.schema]).toEqual([name, of, expect.any(Object)])
  }
})

it('rpc/reference/openRpc: examples fit their schemas', () => {
  for (const { name, params, result, example } of [...engineRegistry.values(), ...adminRegistry.values()]) {
    for (const [index, value] of example.params.entries()) {
      const { schema } = params[index]?.codec ?? {}
      if (schema !== undefined && value !== null) expect([name, mismatch(schema, value)]).toEqual([name, undefined])
    }
    if (result.schema === undefined || example.result === undefined) continue
    expect([name, mismatch(result.schema, example.result)]).toEqual([name, undefined])
  }
})

it.each([
  ['Quantity', '0x0', '0x00', { code: 'invalid_format', path: [] }],
  ['Hash', `0x${'ab'.repeat(32)}`, `0x${'ab'.repeat(31)}`, { code: 'invalid_format', path: [] }],
  ['BlockId', { blockHash: `0x${'ab'.repeat(32)}` }, {}, { code: 'invalid_union', path: [] }],
  [
    'LogFilter',
    { topics: [null, [`0x${'00'.repeat(32)}`]] },
    { topics: [null, null, null, null, null] },
    { code: 'invalid_union', path: ['topics'] },
  ],
] as const)('rpc/reference/openRpc: the schema %s takes what fits and nothing else', (name, good, bad, why) => {
  expect(mismatch(namedSchemas[name], good)).toBeUndefined()
  expect(JSON.parse(mismatch(namedSchemas[name], bad) ?? '')).toMatchObject([why])
})

it('rpc/reference/openRpc: the namespace of a method is the part before the first separator', () => {
  expect(['eth_call', 'rpc.discover', 'lonely'].map(namespaceOf)).toEqual(['eth', 'rpc', 'lonely'])
})

import type { Json } from './json.ts'
import type { Documented } from './openRpc.ts'
import { type CostClass, costClasses, type Param } from './registry.ts'

function paramRow(definition: Param<unknown>): string {
  const fallback = definition.fallback === undefined ? 'required' : `default: ${definition.fallback.doc}`
  return `| \`${definition.name}\` | ${definition.codec.doc} | ${fallback} |`
}

const compact = (value: Json): string => JSON.stringify(value)

function exampleLines({ name, example }: Documented): string[] {
  const request = compact({ jsonrpc: '2.0', id: 1, method: name, params: example.params })
  const answer = example.result === undefined ? [] : [`← ${compact({ jsonrpc: '2.0', id: 1, result: example.result })}`]
  return ['```text', `→ ${request}`, ...answer, '```']
}

function methodSection(method: Documented): string {
  const params = method.params.length === 0 ? [] : ['', '| parameter | is | |', '|---|---|---|', ...method.params.map(paramRow)]
  const lines = [
    `### ${method.name}`,
    '',
    method.doc,
    ...params,
    '',
    `Result: ${method.result.doc}. Cost: ${method.cost}.`,
    '',
    ...exampleLines(method),
  ]
  return lines.join('\n')
}

function costRow([name, { timeoutMs, maxRunning }]: [string, (typeof costClasses)[CostClass]]): string {
  return `| ${name} | ${timeoutMs / 1_000} s | ${maxRunning} |`
}

/**
 * The reference of RPC methods in Markdown, made from the registries.
 * @param servers what each server is, and its registry
 */
export function methodsReference(servers: readonly { readonly title: string; readonly methods: Iterable<Documented> }[]): string {
  const costs = ['## Cost classes', '', '| cost | time-out | at once |', '|---|---|---|', ...Object.entries(costClasses).map(costRow)]
  const sections = servers.map(({ title, methods }) => [`## ${title}`, ...Array.from(methods, methodSection)].join('\n\n'))
  return ['# JSON-RPC methods', costs.join('\n'), ...sections].join('\n\n').concat('\n')
}

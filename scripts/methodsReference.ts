import type { Json } from '#rpc/json'
import { type Documented, namespaceOf } from '#rpc/reference/openRpc'
import { type CostClass, costClasses, type Param } from '#rpc/registry'
import { errorCodes } from './rpcErrorCodes.ts'

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

function costRow([name, { timeoutMs, maxRunning, maxWaiting, maxUnreadBytes, units }]: [string, (typeof costClasses)[CostClass]]): string {
  return `| ${name} | ${timeoutMs / 1_000} s | ${maxRunning} | ${maxWaiting} | ${maxUnreadBytes / 1_000_000} MB | ${units} |`
}

/** One line per namespace, with links to its methods. */
function namespaceLines(methods: readonly Documented[]): string[] {
  const groups = Map.groupBy(methods, ({ name }) => namespaceOf(name))
  const link = ({ name }: Documented): string => `[${name}](#${name.toLowerCase().replaceAll('.', '')})`
  return Array.from(groups, ([namespace, group]) => `- **${namespace}**: ${group.map(link).join(' · ')}`)
}

function serverSection(title: string, methods: readonly Documented[]): string {
  return [`## ${title}`, namespaceLines(methods).join('\n'), ...methods.map(methodSection)].join('\n\n')
}

/**
 * The reference of RPC methods in Markdown, generated from the registries.
 * @param servers title and registry of each server
 */
export function methodsReference(servers: readonly { readonly title: string; readonly methods: Iterable<Documented> }[]): string {
  const costs = [
    ...[
      '## Cost classes',
      '',
      'Limits per thread: time-out of a call, number of calls that run and wait at once, and unread bytes of large answers beyond which no further',
      'call starts. `units`: compute units of a rate limit.',
      '',
    ],
    ...[
      '| cost | time-out | at once | waiting | unread | units |',
      '|---|---|---|---|---|---|',
      ...Object.entries(costClasses).map(costRow),
    ],
  ]
  const errors = [
    ...['## Errors', '', '| code | text | means |', '|---|---|---|'],
    ...errorCodes.map(({ code, says, means }) => `| ${code} | ${says} | ${means} |`),
  ]
  const sections = servers.map(({ title, methods }) => serverSection(title, [...methods]))
  return ['# JSON-RPC methods', costs.join('\n'), errors.join('\n'), ...sections].join('\n\n').concat('\n')
}

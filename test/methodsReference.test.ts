import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import { methodsReference } from '../scripts/methodsReference.ts'
import { errorCodes } from '../scripts/rpcErrorCodes.ts'

const reference = methodsReference([
  { title: 'Execution', methods: ethRegistry.values() },
  { title: 'Consensus', methods: rollupRegistry.values() },
])

it('scripts/methodsReference: every method has a section with its parameters, result, cost and an example', () => {
  for (const method of [...ethRegistry.values(), ...rollupRegistry.values()]) {
    const section = reference.split('\n### ').find((each) => each.startsWith(`${method.name}\n`)) ?? ''
    expect(section).toContain(method.doc)
    expect(section).toContain(`Result: ${method.result.doc}. Cost: ${method.cost}.`)
    for (const { name } of method.params) expect(section).toContain(`| \`${name}\` |`)
    expect(section).toContain(`"method":"${method.name}"`)
  }
})

it('scripts/methodsReference: names defaults, and escapes bars in table cells', () => {
  expect(reference).toContain('| `block` | block number, tag')
  expect(reference).toContain('default: latest')
  for (const row of reference.split('\n').filter((line) => line.startsWith('| `'))) expect(row.split('|')).toHaveLength(5)
})

it('scripts/methodsReference: lists every error code of the sources once in the table of errors', () => {
  const folder = join(import.meta.dirname, '../src/rpc')
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'))
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
  const named = sources.matchAll(/-3[28]_?\d{3}\b|new RpcError\((\d+)/g)
  const known = errorCodes.map(({ code }) => code)
  for (const [text, plain] of named) expect(known).toContain(Number(plain ?? text.replace('_', '')))
  expect(new Set(known).size).toBe(known.length)
})

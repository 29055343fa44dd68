import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createScanner, SyntaxKind } from 'typescript/unstable/ast'
import { expect, it } from 'vitest'

const allowed = /^(node:[a-z]+|viem|ethers|fast-check|\.\/[A-Za-z0-9]+\.ts)$/

/** All string literals after `from`, `import` or in `import(…)`, by the compiler's scanner. */
function importsOf(text: string): string[] {
  const scanner = createScanner(true, 0, text)
  const found: string[] = []
  const before: SyntaxKind[] = []
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    const isImport = before.slice(-2).some((kind) => kind === SyntaxKind.FromKeyword || kind === SyntaxKind.ImportKeyword)
    if (token === SyntaxKind.StringLiteral && isImport) found.push(scanner.getTokenValue())
    before.push(token)
  }
  return found
}

it('test/independent: finds each form of an import', () => {
  expect(importsOf("import { a } from '#lib/a'\nimport './b.ts'\nawait import('../c.ts')\nexport { d } from '../d.ts'")).toEqual([
    '#lib/a',
    './b.ts',
    '../c.ts',
    '../d.ts',
  ])
})

it('test/independent: imports only itself, Node, viem, ethers and fast-check', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  expect(files).toContain('span.ts')
  const others = files.flatMap((name) =>
    importsOf(readFileSync(join(import.meta.dirname, name), 'utf8'))
      .filter((specifier) => !allowed.test(specifier))
      .map((specifier) => `${name}: ${specifier}`),
  )
  expect(others).toEqual([])
})

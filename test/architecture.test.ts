import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { createScanner, type Scanner, SyntaxKind } from 'typescript/unstable/ast'
import { describe, expect, it } from 'vitest'
import { inBrowser, maxFilesPerFolder, maxLinesPerFile, modules, synchronous } from '../layers.ts'

const root = resolve(import.meta.dirname, '..')

function sourceFiles(dir: string): string[] {
  return readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(dir, name))
}

/** Tokens after which a slash is a division. */
const operandEnds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.TemplateTail,
  SyntaxKind.NoSubstitutionTemplateLiteral,
])

type Scan = { imports: string[]; asyncAt: number[] }

/** Scans the next token. A slash begins a regular expression unless it follows an operand. */
function nextToken(scanner: Scanner, previous: SyntaxKind): SyntaxKind {
  const token = scanner.scan()
  return token === SyntaxKind.SlashToken && !operandEnds.has(previous) ? scanner.reScanSlashToken() : token
}

/** Returns the module specifiers of a file and the lines with the `async` keyword, by the compiler's scanner. */
function scan(text: string): Scan {
  const scanner = createScanner(true, 0, text)
  const imports: string[] = []
  const asyncAt: number[] = []
  const braces: ('block' | 'template')[] = []
  let beforePrevious: SyntaxKind = SyntaxKind.Unknown
  let previous: SyntaxKind = SyntaxKind.Unknown
  for (let token = nextToken(scanner, previous); token !== SyntaxKind.EndOfFile; token = nextToken(scanner, previous)) {
    if (token === SyntaxKind.OpenBraceToken) braces.push('block')
    if (token === SyntaxKind.TemplateHead) braces.push('template')
    if (token === SyntaxKind.CloseBraceToken) {
      const inTemplate = braces.pop() === 'template'
      if (inTemplate && scanner.reScanTemplateToken(false) === SyntaxKind.TemplateMiddle) braces.push('template')
    }
    const isCalled = previous === SyntaxKind.OpenParenToken && beforePrevious === SyntaxKind.ImportKeyword
    const isNamed = previous === SyntaxKind.FromKeyword || previous === SyntaxKind.ImportKeyword
    if (token === SyntaxKind.StringLiteral && (isNamed || isCalled)) imports.push(scanner.getTokenValue())
    if (token === SyntaxKind.AsyncKeyword) asyncAt.push(text.slice(0, scanner.getTokenStart()).split('\n').length)
    beforePrevious = previous
    previous = token
  }
  return { imports, asyncAt }
}

const moduleOf = (file: string): string => relative('src', file).split('/')[0] ?? ''

/** Returns the reason why a file may not import a specifier, or undefined. */
function refusal(file: string, specifier: string): string | undefined {
  const from = moduleOf(file)
  if (specifier.startsWith('.')) {
    const target = moduleOf(relative(root, resolve(root, file, '..', specifier)))
    return target === from ? undefined : `leaves ${from} by a relative path: ${specifier}`
  }
  if (!specifier.startsWith('#')) return undefined
  const [, to = '', name = ''] = /^#(\w+)\/(.*)$/.exec(specifier) ?? []
  if (to === 'test') return file.endsWith('.test.ts') ? undefined : `imports test code: ${specifier}`
  if (to === from) return `imports its own module by '#': ${specifier}`
  if (!modules[to]?.public.includes(name)) return `imports a private file of ${to}: ${specifier}`
  if (file.endsWith('.test.ts')) return undefined
  const allowed = modules[from]?.imports ?? []
  return allowed.includes(to) || allowed.includes(`${to}:${name}`) ? undefined : `${from} may not import ${specifier}`
}

/** Returns the file of `src/` that a specifier names, or undefined. */
function importedFile(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative(root, resolve(root, file, '..', specifier))
  return specifier.startsWith('#') && !specifier.startsWith('#test/') ? `src/${specifier.slice(1)}.ts` : undefined
}

/** Returns one path per import that closes a cycle. @param imports the files that each file imports, by type too */
function importCycles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const from = path.indexOf(file)
    if (from >= 0) found.push([...path.slice(from), file].join(' → '))
    if (from >= 0 || done.has(file)) return
    for (const next of imports.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  return found
}

/** The paths that ARCHITECTURE.md traces in a table, with the most files of each. */
const paths = [
  ['A transaction, by file', 9],
  ['A forwarded transaction, by file', 9],
  ['A call, by file', 6],
  ['A flashblock, by file', 7],
] as const

/** A file of a path, and the file that joins it to the one above; undefined: one of the two imports the other. */
type Step = { readonly file: string; readonly joint: string | undefined }

function stepsOf(document: string, title: string): Step[] {
  const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  return Array.from(section.matchAll(/^\| `(\S+)` \| (?:import|`(\S+)`)? ?\|/gm), ([, file, joint]) => ({
    file: `src/${file}`,
    joint: joint && `src/${joint}`,
  }))
}

/** Returns the steps that are not joined to the one above. @param imports returns the files that a file imports */
function gapsIn(steps: readonly Step[], imports: (file: string) => readonly string[]): string[] {
  const isLinked = (a: string, b: string): boolean => imports(a).includes(b) || imports(b).includes(a)
  const uses = (file: string, joint: string): boolean =>
    isLinked(file, joint) || imports(file).some((next) => imports(next).includes(joint))
  return steps.slice(1).flatMap(({ file, joint }, at) => {
    const above = steps[at]?.file ?? ''
    const isJoined = joint === undefined ? isLinked(above, file) : uses(above, joint) && uses(file, joint)
    return isJoined ? [] : [`${above} → ${file}`]
  })
}

const files = sourceFiles('src')

describe('architecture', () => {
  it('finds imports and async functions', () => {
    expect(scan("import { a } from '#lib/a'\nimport './b.ts'\nasync function f() {}").imports).toEqual(['#lib/a', './b.ts'])
    expect(scan("const { a } = await import('./a.ts')\ntype B = import('#lib/b').B").imports).toEqual(['./a.ts', '#lib/b'])
    expect(scan('const x = 1\nasync function f() {}').asyncAt).toEqual([2])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source text of a template
    expect(scan('const x = `a ${b} async ${c} `\nasync function f() {}').asyncAt).toEqual([2])
  })

  it('rejects a forbidden edge, a private file, a relative path out of a module', () => {
    expect(refusal('src/evm/a.ts', '#state/account')).toBe('evm may not import #state/account')
    expect(refusal('src/state/a.ts', '#evm/wasmEvm')).toBe('state may not import #evm/wasmEvm')
    expect(refusal('src/state/a.ts', '#evm/ports')).toBeUndefined()
    expect(refusal('src/node/a.ts', '#evm/wasm/session')).toMatch('private file')
    expect(refusal('src/evm/a.ts', '../lib/hex.ts')).toMatch('relative path')
  })

  it('has a row in layers.ts for every module, without a cycle', () => {
    const present = new Set(files.map(moduleOf))
    expect([...present].toSorted()).toEqual(Object.keys(modules).toSorted())
    const done = new Set<string>()
    const visit = (name: string, path: string[]): void => {
      if (path.includes(name)) throw new Error(`cycle: ${[...path, name].join(' → ')}`)
      if (done.has(name)) return
      for (const edge of modules[name]?.imports ?? []) if (!edge.includes(':')) visit(edge, [...path, name])
      done.add(name)
    }
    for (const name of Object.keys(modules)) visit(name, [])
  })

  it('imports only as layers.ts permits', () => {
    expect(files.length).toBeGreaterThan(0)
    const bad = files.flatMap((file) =>
      scan(readFileSync(join(root, file), 'utf8')).imports.flatMap((specifier) => {
        const reason = refusal(file, specifier)
        return reason ? [`${file}: ${reason}`] : []
      }),
    )
    expect(bad).toEqual([])
  })

  it.each(Object.entries(inBrowser))('imports only what a browser has in %s', (name, packages) => {
    const foreign = files
      .filter((file) => moduleOf(file) === name && !file.endsWith('.test.ts'))
      .flatMap((file) => scan(readFileSync(join(root, file), 'utf8')).imports.filter((specifier) => !specifier.startsWith('.')))
    expect(modules[name]?.imports).toEqual([])
    expect([...new Set(foreign)]).toEqual(packages)
  })

  it('has no cycle of files, including imports of types', () => {
    const a = "import { b } from './b.ts'"
    const b = "import type { C } from './c.ts'"
    const planted = [
      ['src/lib/a.ts', a] as const,
      ['src/lib/b.ts', b] as const,
      ['src/lib/c.ts', "import type { A } from './a.ts'"] as const,
    ]
    const graph = (sources: readonly (readonly [string, string])[]): Map<string, string[]> =>
      new Map(sources.map(([file, text]) => [file, scan(text).imports.flatMap((specifier) => importedFile(file, specifier) ?? [])]))
    expect(importCycles(graph(planted))).toEqual(['src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts'])
    const sources = files
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)
    expect(importCycles(graph(sources))).toEqual([])
  })

  it('has an importer in another module for every public file', () => {
    const imported = new Set(files.flatMap((file) => scan(readFileSync(join(root, file), 'utf8')).imports))
    const listed = Object.entries(modules).flatMap(([name, { public: names }]) => names.map((path) => `#${name}/${path}`))
    expect(listed.filter((specifier) => !imported.has(specifier))).toEqual([])
  })

  it.each(paths)('traces "%s" in ARCHITECTURE.md by at most %i files, each joined to the one above', (title, most) => {
    const steps = stepsOf(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'), title)
    const importsOf = (file: string): string[] =>
      scan(readFileSync(join(root, file), 'utf8')).imports.flatMap((specifier) => importedFile(file, specifier) ?? [])
    expect(steps.length).toBeGreaterThan(1)
    expect(steps.length).toBeLessThanOrEqual(most)
    expect(gapsIn(steps, importsOf)).toEqual([])
  })

  it('finds a step of a path that nothing joins to the one above', () => {
    const rows = ['`a.ts` | ', '`b.ts` | import ', '`c.ts` | `p.ts` ', '`d.ts` | import '].map((row) => `| ${row}| x |\n`)
    const steps = stepsOf(`## P\n${rows.join('')}\n## Q\n| \`e.ts\` | | x |\n`, 'P')
    expect(steps.map(({ file }) => file)).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts'])
    const imports: Readonly<Record<string, readonly string[]>> = { 'src/b.ts': ['src/a.ts', 'src/p.ts'], 'src/c.ts': ['src/p.ts'] }
    expect(gapsIn(steps, (file) => imports[file] ?? [])).toEqual(['src/c.ts → src/d.ts'])
  })

  it(`has at most ${maxFilesPerFolder} source files directly in a folder`, () => {
    const count = new Map<string, number>()
    for (const file of ['src', 'bench', 'e2e', 'scripts', 'test/harness'].flatMap(sourceFiles)) {
      const folder = dirname(file)
      if (!file.endsWith('.test.ts')) count.set(folder, (count.get(folder) ?? 0) + 1)
    }
    expect([...count].filter(([, files]) => files > maxFilesPerFolder)).toEqual([])
  })

  it('has no async function in the core', () => {
    const bad = files
      .filter((file) => synchronous.includes(moduleOf(file)) && !file.endsWith('.test.ts'))
      .flatMap((file) => scan(readFileSync(join(root, file), 'utf8')).asyncAt.map((line) => `${file}:${line}`))
    expect(bad).toEqual([])
  })

  it(`has at most ${maxLinesPerFile} lines in a file`, () => {
    const long = [...files, ...sourceFiles('test')]
      .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > maxLinesPerFile)
    expect(long).toEqual([])
  })
})

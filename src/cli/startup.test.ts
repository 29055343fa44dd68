import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '..')

/** Returns what a file imports when it is loaded: types are erased, and `import()` waits for its call. */
function loadedBy(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return Array.from(text.matchAll(/^(?:import|export) (?!type )(?:[^'"]*? from )?'([^']+)'$/gm), ([, name = '']) => name).filter(
    (name) => !name.startsWith('node:'),
  )
}

/** Returns the files of `src` and the packages that a start with these files loads. */
function closure(...roots: readonly string[]): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const name of loadedBy(file)) {
      if (name.startsWith('#')) visit(join(src, `${name.slice(1)}.ts`))
      else if (name.startsWith('.')) visit(join(dirname(file), name))
      else packages.add(name)
    }
  }
  for (const root of roots) visit(join(src, root))
  return { files: [...files].map((file) => relative(src, file)).sort(), packages: [...packages].sort() }
}

it('cli/startup: status loads one package, commander, and no code of the node', () => {
  const { files, packages } = closure('cli/main.ts', 'cli/commands/status/status.ts')
  expect(packages).toEqual(['commander'])
  expect(files.filter((file) => /^(?:node|chainspec|devnet)\//.test(file))).toEqual([
    'chainspec/networkNames.ts',
    'devnet/b20/names.ts',
    'devnet/choices.ts',
    'node/threads/rpcThreadCount.ts',
  ])
  expect(files.length).toBeLessThan(60)
})

it('cli/startup: the closure sees what a file loads', () => {
  expect(closure('cli/commands/node.ts').packages).toEqual(expect.arrayContaining(['pino', 'zod']))
})

// npm run test:b20 -- [--json] [--evm NAMES] [FILE.json.zst…]: runs vectors of the native contracts on all interpreters. Exit 1: a difference;
// 77: no file.
import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { judgedNamed } from './judged.ts'
import { type Difference, replay } from './replay.ts'
import { readVectors } from './vectors.ts'

type FileResult = { readonly file: string; readonly passed: number; readonly failed: number; readonly differences: readonly Difference[] }

const defaultFolder = resolve(import.meta.dirname, '../../../shared/data/b20')
const shownDifferences = 5
const shownText = 600

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    evm: { type: 'string', default: 'wasm,traced,reference' },
    only: { type: 'string', default: '' },
  },
})

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const cut = (text: string): string => (text.length > shownText ? `${text.slice(0, shownText)}…` : text)

function defaultFiles(): string[] {
  if (!existsSync(defaultFolder)) return []
  return readdirSync(defaultFolder)
    .filter((name) => name.endsWith('.json.zst'))
    .toSorted()
    .map((name) => join(defaultFolder, name))
}

function runFile(path: string): FileResult {
  const file = readVectors(path)
  const interpreters = judgedNamed(values.evm.split(','))
  const differences: Difference[] = []
  let [passed, failed] = [0, 0]
  for (const sequence of file.sequences()) {
    if (!sequence.name.includes(values.only)) continue
    const found = interpreters.flatMap((judged) => replay(judged, file, sequence) ?? [])
    differences.push(...found)
    if (found.length === 0) passed++
    else failed++
  }
  return { file: basename(path), passed, failed, differences }
}

function show({ evm, sequence, index, label, isAdjusted, what, expected, actual }: Difference): void {
  print(`  ${evm}: ${sequence}, transaction ${index} (${label})${isAdjusted ? ', adjusted' : ''}: ${what}`)
  print(`    expected ${cut(expected)}`)
  print(`    actual   ${cut(actual)}`)
}

const files = positionals.length > 0 ? positionals : defaultFiles()
const missing = files.filter((path) => !existsSync(path))
if (files.length === 0 || missing.length > 0) {
  print(missing.length > 0 ? `no file ${missing.join(', ')}` : `no vectors in ${defaultFolder}: give files as arguments`)
  process.exit(77)
}
const results = files.map(runFile)
if (values.json) print(JSON.stringify(results, undefined, 2))
else {
  for (const { file, passed, failed, differences } of results) {
    print(`${file}: ${passed} passed, ${failed} failed`)
    for (const difference of differences.slice(0, shownDifferences)) show(difference)
  }
}
const sum = (of: 'passed' | 'failed'): number => results.reduce((total, result) => total + result[of], 0)
if (!values.json) print(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0

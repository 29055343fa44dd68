// npm run bench -- <suite> [--json FILE]: measures, prints, and with --json keeps the result.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describe, type Row } from './format.ts'

const suites: Readonly<Record<string, () => Promise<{ run: () => Promise<readonly Row[]> }>>> = {
  batcher: () => import('./batcher.ts'),
  derive: () => import('./derive.ts'),
  engine: () => import('./engine.ts'),
  follow: () => import('./follow.ts'),
  pool: () => import('./pool.ts'),
  restart: () => import('./restart.ts'),
  submit: () => import('./submit.ts'),
  transfers: () => import('./transfers.ts'),
}

const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true })
const [suite = ''] = positionals
const load = suites[suite]
if (!load) {
  console.error(`no suite ${JSON.stringify(suite)}: one of ${Object.keys(suites).join(', ')}`)
  process.exit(2)
}
const rows = await (await load()).run()
for (const { name, value, unit, runs, against } of rows) {
  const spread = `${Math.min(...runs).toFixed(1)} … ${Math.max(...runs).toFixed(1)}`
  console.log(`${name}: ${value.toFixed(1)} ${unit} (${spread})${against ? `, ${against.name}: ${against.value.toFixed(1)}` : ''}`)
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(describe(suite, rows), null, 2)}\n`)

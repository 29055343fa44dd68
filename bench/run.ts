// npm run bench -- <suite> [--json FILE] [options of the suite]: measures, prints, and with --json keeps the result.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describe, type Row } from './format.ts'

/** Of the suite `devnet`. */
type Options = { readonly minutes?: number; readonly rate?: number; readonly l1?: string }

const suites: Readonly<Record<string, () => Promise<{ run: (options: Options) => Promise<readonly Row[]> }>>> = {
  batcher: () => import('./batcher.ts'),
  derive: () => import('./derive.ts'),
  devnet: () => import('./devnet.ts'),
  devnetStart: () => import('./devnetStart.ts'),
  engine: () => import('./engine.ts'),
  follow: () => import('./follow.ts'),
  pool: () => import('./pool.ts'),
  restart: () => import('./restart.ts'),
  submit: () => import('./submit.ts'),
  transfers: () => import('./transfers.ts'),
}

const text = { type: 'string' } as const
const { values, positionals } = parseArgs({ options: { json: text, minutes: text, rate: text, l1: text }, allowPositionals: true })
const { minutes, rate, l1 } = values
const [suite = ''] = positionals
const load = suites[suite]
if (!load) {
  console.error(`no suite ${JSON.stringify(suite)}: one of ${Object.keys(suites).join(', ')}`)
  process.exit(2)
}
const options: Options = {
  ...(minutes !== undefined && { minutes: Number(minutes) }),
  ...(rate !== undefined && { rate: Number(rate) }),
  ...(l1 !== undefined && { l1 }),
}
const rows = await (await load()).run(options)
for (const { name, value, unit, runs, against } of rows) {
  const spread = `${Math.min(...runs).toFixed(1)} … ${Math.max(...runs).toFixed(1)}`
  console.log(`${name}: ${value.toFixed(1)} ${unit} (${spread})${against ? `, ${against.name}: ${against.value.toFixed(1)}` : ''}`)
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(describe(suite, rows), null, 2)}\n`)

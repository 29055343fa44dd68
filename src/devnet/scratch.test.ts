import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeScratch, sweepScratch } from './scratch.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-scratch-'))
afterAll(() => rmSync(dir, { recursive: true }))
/** Process id that Linux never assigns. */
const deadPid = 4_194_305
const hourMs = 3_600_000

it('devnet/scratch: removes only the folder of a killed devnet, once it is no longer written', () => {
  const own = makeScratch(dir)
  const dead = join(dir, `basalt-devnet-${deadPid}-abcdef`)
  mkdirSync(join(dead, 'sequencer'), { recursive: true })
  writeFileSync(join(dead, 'sequencer/data'), 'x')
  const others = [`basalt-devnet-${deadPid}`, 'basalt-devnet-x-abcdef', 'mine'].map((name) => join(dir, name))
  for (const other of others) mkdirSync(other)
  const nowMs = Date.now()
  sweepScratch(dir, { nowMs: () => nowMs })
  expect(readdirSync(dir)).toContain(basename(dead))
  sweepScratch(dir, { nowMs: () => nowMs + hourMs })
  expect(readdirSync(dir).sort()).toEqual([own, ...others].map((path) => basename(path)).sort())
})

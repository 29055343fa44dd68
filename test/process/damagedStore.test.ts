import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { DamagedReader } from '#test/harness/process/damagedFile'
import { makeStore } from '#test/harness/process/damagedStore'

const base = mkdtempSync(join(tmpdir(), 'basalt-damage-'))
const template = join(base, 'template')
const script = resolve(import.meta.dirname, '../harness/process/damagedStore.ts')
let hashes: readonly string[] = []
let bytes = 0
const reader = new DamagedReader(script, [template, join(base, 'copy')])

beforeAll(async () => {
  hashes = await makeStore(template)
  bytes = statSync(join(template, 'data.mdb')).size
}, 60_000)
afterAll(() => {
  reader[Symbol.dispose]()
  rmSync(base, { recursive: true, force: true })
})

it('process/damagedStore: reports a file that is cut off at any position (DATADIR_DAMAGED)', async () => {
  const lengths = [1, 100, 4_096, 8_192, 8_193, ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part) => Math.floor(bytes * part))]
  for (const length of lengths) expect([length, await reader.outcomeOf({ kind: 'cut', length })]).toEqual([length, 'DATADIR_DAMAGED'])
}, 180_000)

it('process/damagedStore: with a flipped bit anywhere, a start shows one of the last two heads, reports a fault, or ends by a signal that the parent reports', async () => {
  const below = dice(7)
  const pages = [0, 1].flatMap((page) => Array.from({ length: 48 }, (_, i) => page * 4_096 + 24 + 3 * i))
  const anywhere = Array.from({ length: 200 }, () => below(bytes))
  // LMDB replaces a damaged meta page by that of the transaction before
  const sound = [...hashes.slice(0, 2), expect.stringMatching(/^[A-Z]+(?:_[A-Z]+)+$|^ended SIG(?:BUS|SEGV|ABRT)$/)]
  for (const byte of [...pages, ...anywhere]) {
    const bit = below(8)
    const outcome = await reader.outcomeOf({ kind: 'flip', byte, bit })
    expect(sound, `byte ${byte}, bit ${bit}: ${outcome}`).toContainEqual(outcome)
  }
}, 600_000)

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { DamagedReader } from '#test/harness/process/damagedFile'
import { makeTables } from '#test/harness/process/flippedRows'

const base = mkdtempSync(join(tmpdir(), 'basalt-flipped-'))
const template = join(base, 'template')
const script = resolve(import.meta.dirname, '../harness/process/flippedRows.ts')
const pageBytes = 4_096
let file: Buffer = Buffer.alloc(0)
const reader = new DamagedReader(script, [template, join(base, 'copy')])

beforeAll(async () => {
  await makeTables(template)
  file = readFileSync(join(template, 'data.mdb'))
})
afterAll(() => {
  reader[Symbol.dispose]()
  rmSync(base, { recursive: true, force: true })
})

/** Whether a byte is of a row, or of a further page of a row: not of a page above the rows, and not of the list of a page's rows. */
function isOfRow(byte: number): boolean {
  const [page, at] = [file.subarray(byte - (byte % pageBytes)), byte % pageBytes]
  const [flags, upper] = [page.readUInt16LE(18), page.readUInt16LE(22)]
  const isLeaf = (flags & 2) !== 0
  return isLeaf ? at >= 24 + upper : (flags & 4) !== 0 && at >= 24
}

/** Returns the positions of the page numbers in the pages above the rows, of which the low seven bits name pages of the file. */
function pageNumbers(): number[] {
  const places: number[] = []
  for (let page = 2 * pageBytes; page < file.length; page += pageBytes) {
    const isBranch = (file.readUInt16LE(page + 18) & 1) !== 0
    const nodes = isBranch ? file.readUInt16LE(page + 20) >> 1 : 0
    for (let at = 0; at < nodes; at++) places.push(page + 24 + file.readUInt16LE(page + 24 + 2 * at))
  }
  return places
}

const sound = /^right \d+, faults \d+$|^DATADIR_DAMAGED$|^STORE_DAMAGED$|^ended SIG(BUS|SEGV|ABRT)$/

it('process/flippedRows: with a flipped bit in any row, each answer is right or a fault (STORE_DAMAGED), or the process ends', async () => {
  const below = dice(11)
  let faults = 0
  for (let asked = 0; asked < 250; ) {
    const [byte, bit] = [2 * pageBytes + below(file.length - 2 * pageBytes), below(8)]
    if (!isOfRow(byte)) continue
    asked++
    const outcome = await reader.outcomeOf({ kind: 'flip', byte, bit })
    expect(outcome, `byte ${byte}, bit ${bit}`).toMatch(sound)
    if (/faults [1-9]/.test(outcome)) faults++
  }
  // the others are in padding, or end the process
  expect(faults).toBeGreaterThan(235)
}, 300_000)

it('process/flippedRows: with a flipped bit in a page number above the rows, no row is missed, and short ranges are whole', async () => {
  const below = dice(12)
  const places = pageNumbers()
  let wrongRanges = 0
  for (let asked = 0; asked < 60; asked++) {
    const [byte, bit] = [places[below(places.length)] ?? 0, below(7)]
    const outcome = await reader.outcomeOf({ kind: 'flip', byte, bit })
    // ranges of more than 64 rows are not walked back
    if (outcome === 'Error: wrong: a range') wrongRanges++
    else expect(outcome, `byte ${byte}, bit ${bit}`).toMatch(sound)
  }
  expect(wrongRanges).toBeLessThan(4)
}, 120_000)

import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startCli } from '#test/harness/process/cliProcess'
import { storedChain } from '#test/harness/store/storedChain'

const base = mkdtempSync(join(tmpdir(), 'basalt-pages-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const pageBytes = 4_096
/** Offset of the kind of a page. */
const kindAt = 18
const leaf = 2
/** Runs at most; about a third of the leaf pages end the process. */
const mostRuns = 16

/** Returns the leaf pages of a database file, those of earlier transactions included. */
function leafPages(path: string): number[] {
  const bytes = readFileSync(path)
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, page) => page)
  return pages.filter(
    (page) => bytes.readBigUInt64LE(page * pageBytes) === BigInt(page) && bytes.readUInt16LE(page * pageBytes + kindAt) === leaf,
  )
}

function clearKind(path: string, page: number): void {
  const file = openSync(path, 'r+')
  const found = Buffer.alloc(2)
  readSync(file, found, 0, 2, page * pageBytes + kindAt)
  expect(found.readUInt16LE()).toBe(leaf)
  writeSync(file, new Uint8Array(2), 0, 2, page * pageBytes + kindAt)
  closeSync(file)
}

it('process/verifyDamagedPage: basalt db verify names the file when LMDB ends the process at a page (DATABASE_PAGE_DAMAGED)', async () => {
  const original = join(base, 'original')
  await storedChain(original, 40)
  const pages = leafPages(join(original, 'chain', 'data.mdb'))
  const ends = new Set<number | null>()
  for (let run = 0; run < mostRuns && !ends.has(134); run++) {
    const datadir = join(base, `copy ${run}`)
    cpSync(original, datadir, { recursive: true })
    const path = join(datadir, 'chain', 'data.mdb')
    // from the end, because most free pages are at the begin
    clearKind(path, pages.at(-1 - Math.floor((run * pages.length) / mostRuns)) ?? 0)
    await using cli = startCli(['db', 'verify', '--datadir', datadir])
    const { code, stderr } = await cli.ended()
    ends.add(code)
    // a free page; a difference; a table whose first page is damaged; the end of the process
    expect([0, 1, 2, 134]).toContain(code)
    if (code === 134) expect(stderr).toContain(`while it read ${path}: a page of the file is damaged or cut off. check the disk`)
    if (code === 2) expect(stderr).toContain('DATADIR_DAMAGED')
  }
  expect(ends).toContain(134)
}, 240_000)

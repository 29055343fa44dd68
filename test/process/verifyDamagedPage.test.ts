import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runCliProcess, startCli } from '#test/harness/process/cliProcess'
import { executeInto } from '#test/harness/snapshot/recordedDatadir'
import { storedChain } from '#test/harness/store/storedChain'

const base = mkdtempSync(join(tmpdir(), 'basalt-pages-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const pageBytes = 4_096
/** Offset of the kind of a page. */
const kindAt = 18
const [noKind, branch, leaf] = [0, 1, 2]
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

function replaceKind(path: string, page: number, kind: number): void {
  const file = openSync(path, 'r+')
  const found = Buffer.alloc(2)
  readSync(file, found, 0, 2, page * pageBytes + kindAt)
  expect(found.readUInt16LE()).toBe(leaf)
  found.writeUInt16LE(kind)
  writeSync(file, found, 0, 2, page * pageBytes + kindAt)
  closeSync(file)
}

type Command = {
  readonly words: readonly string[]
  /** file that is damaged, in the data directory */
  readonly file: string
  /** kind that one of its leaf pages gets */
  readonly kind: number
  /** makes the data directory */
  readonly make: (datadir: string) => Promise<unknown>
  /** part of the line about its end at a page */
  readonly says: (datadir: string) => string
  /** faults of a file that LMDB or a check refuses */
  readonly refusals: RegExp
}

const commands: readonly Command[] = [
  {
    words: ['db', 'verify'],
    file: 'chain/data.mdb',
    kind: noKind,
    make: (datadir) => storedChain(datadir, 40),
    says: (datadir) => `while it read ${join(datadir, 'chain/data.mdb')}: a page of the file is damaged or cut off. check the disk`,
    refusals: /DATADIR_DAMAGED/,
  },
  {
    words: ['proofs', 'verify', '--blocks', 'all'],
    file: 'proofs/data.mdb',
    kind: branch,
    make: async (datadir): Promise<void> => {
      await executeInto(datadir, 'op-bedrock-to-holocene', 40, 40)
      expect((await runCliProcess(['proofs', 'init', '--from', '0', '--datadir', datadir])).code).toBe(0)
    },
    says: (datadir) =>
      `${join(datadir, 'proofs/data.mdb')} and ${join(datadir, 'chain/data.mdb')}: a page of one of them is damaged or cut off`,
    refusals: /PROOFS_DAMAGED|PROOFS_ROW_DAMAGED/,
  },
]

it.each(commands.map((command) => [command.words.slice(0, 2).join(' '), command] as const))(
  'process/verifyDamagedPage: basalt %s names the file when LMDB ends the process at a page (DATABASE_PAGE_DAMAGED, PROOFS_PAGE_DAMAGED)',
  async (name, { words, file, kind, make, says, refusals }) => {
    const original = join(base, name)
    await make(original)
    const pages = leafPages(join(original, file))
    const codes = new Set<number | null>()
    for (let run = 0; run < mostRuns && !codes.has(134); run++) {
      const datadir = join(base, `${name} ${run}`)
      cpSync(original, datadir, { recursive: true })
      // from the end, because most free pages are at the start
      replaceKind(join(datadir, file), pages.at(-1 - Math.floor((run * pages.length) / mostRuns)) ?? 0, kind)
      await using cli = startCli([...words, '--datadir', datadir])
      const { code, stderr } = await cli.ended()
      codes.add(code)
      // a free page; a difference; a table whose first page is damaged; the end of the process
      expect([0, 1, 2, 134]).toContain(code)
      if (code === 134) expect(stderr).toContain(says(datadir))
      if (code === 2) expect(stderr).toMatch(refusals)
    }
    expect(codes).toContain(134)
  },
  240_000,
)

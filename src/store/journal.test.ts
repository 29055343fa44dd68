import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createLog, silentLog } from '#lib/log'
import { sampleOf } from '#test/harness/sample'
import { openFileJournal } from './fileJournal.ts'
import { createMemoryJournal } from './memoryJournal.ts'
import type { Journal, JournalPlace, JournalRecord } from './ports.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-journal-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const block = (...bytes: number[]): JournalRecord => ({ kind: 'block', bytes: Uint8Array.from(bytes) })
const heads = (...bytes: number[]): JournalRecord => ({ kind: 'heads', bytes: Uint8Array.from(bytes) })
const found = (journal: Journal) => [...journal.records()].map(({ kind, bytes, segment }) => `${segment} ${kind} ${[...bytes]}`)

/** Returns a function that opens the same journal repeatedly. */
type Openers = Readonly<Record<string, () => (maxSegmentBytes?: number) => Journal>>
const openers: Openers = {
  memory: () => {
    const segments = new Map<number, JournalRecord[]>()
    return (maxSegmentBytes) => createMemoryJournal(segments, maxSegmentBytes)
  },
  file: () => {
    const dir = newDir()
    return (maxSegmentBytes) => openFileJournal(dir, silentLog, maxSegmentBytes)
  },
}

describe.each(Object.entries(openers))('store/journal %s', (_name, opener) => {
  it('appended records are read after a reopen, in order and with their segment', () => {
    const open = opener()
    {
      using journal = open()
      expect(found(journal)).toEqual([])
      journal.append(block(1))
      journal.append(heads())
      journal.rotate()
      journal.rotate()
      journal.append(block(2, 3))
    }
    using again = open()
    expect(found(again)).toEqual(['1 block 1', '1 heads ', '2 block 2,3'])
    expect(again.segment).toBe(3)
    again.append(block(4))
    using third = open()
    expect(found(third)).toEqual(['1 block 1', '1 heads ', '2 block 2,3', '3 block 4'])
  })

  it('a dropped segment stays dropped after a reopen; the current one stays', () => {
    const open = opener()
    using journal = open()
    journal.append(block(1))
    journal.rotate()
    journal.append(block(2))
    expect(journal.sizeBytes).toBe(20)
    journal.drop(1)
    journal.drop(7)
    expect(journal.sizeBytes).toBe(10)
    using again = open()
    expect(found(again)).toEqual(['2 block 2'])
    expect(again.sizeBytes).toBe(10)
  })

  it('starts a new segment before a record that would exceed the segment size', () => {
    const open = opener()
    using journal = open(25)
    const places = [block(1), block(2), block(3), block(4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4), block(5)].map((record) =>
      journal.append(record),
    )
    expect(places.map(({ segment }) => segment)).toEqual([1, 1, 2, 3, 4])
    using again = open(25)
    expect([...again.records()].map(({ segment, offset }) => ({ segment, offset }))).toEqual(places)
  })

  it('reads a record by its location, before and after a reopen', () => {
    const open = opener()
    using journal = open()
    journal.append(block(1))
    const place = journal.append(heads(2, 3))
    expect(journal.read(place)).toEqual(Uint8Array.of(2, 3))
    using again = open()
    expect(again.read(place)).toEqual(Uint8Array.of(2, 3))
  })

  it('rejects a read from a dropped segment', () => {
    using journal = opener()()
    const place = journal.append(block(1))
    journal.rotate()
    journal.append(block(2))
    journal.drop(1)
    expect(() => journal.read(place)).toThrow(RangeError)
  })
})

describe('store/fileJournal', () => {
  const filled = (): string => {
    const dir = newDir()
    using journal = openFileJournal(dir, silentLog)
    for (let i = 0; i < 3; i++) journal.append(block(i, i))
    journal.rotate()
    journal.append(heads(9))
    return dir
  }
  const first = (dir: string): string => join(dir, readdirSync(dir).sort()[0] ?? '')

  it.each([
    ['truncated in the middle of a record', (path: string) => truncateSync(path, 25), ['1 block 0,0', '1 block 1,1']],
    ['truncated inside the head of a record', (path: string) => truncateSync(path, 13), ['1 block 0,0']],
    ['empty', (path: string) => truncateSync(path, 0), []],
    [
      'changed in one byte',
      (path: string) => {
        const bytes = readFileSync(path)
        bytes[20] = (bytes[20] ?? 0) ^ 1
        writeFileSync(path, bytes)
      },
      ['1 block 0,0'],
    ],
    [
      'followed by a wrong length',
      (path: string) => writeFileSync(path, new Uint8Array(9).fill(0xff), { flag: 'a' }),
      ['1 block 0,0', '1 block 1,1', '1 block 2,2'],
    ],
  ])('a segment that is %s keeps its intact records, logs the loss, and the next segment is read', (_what, damage, kept) => {
    const dir = filled()
    damage(first(dir))
    const lines: string[] = []
    const open = () => openFileJournal(dir, createLog('warn', { write: (line) => void lines.push(line) }))
    expect(found(open())).toEqual([...kept, '2 heads 9'])
    const said = lines.length
    expect(said === 1 || kept.length === 0).toBe(true)
    expect(found(open())).toEqual([...kept, '2 heads 9'])
    expect(lines.length).toBe(said)
  })

  it.each([
    ['is empty', 0],
    ['has a torn first record', 5],
  ])('removes a segment that %s when the records are read', (_what, bytes) => {
    const dir = filled()
    const path = first(dir)
    truncateSync(path, bytes)
    using journal = openFileJournal(dir, silentLog)
    expect(found(journal)).toEqual(['2 heads 9'])
    expect(existsSync(path)).toBe(false)
    expect(readdirSync(dir)).toHaveLength(1)
    expect(journal.append(block(1)).segment).toBe(3)
  })

  it('reads arbitrary bytes in a segment without crashing', () => {
    const dir = newDir()
    mkdirSync(dir)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        writeFileSync(join(dir, '000000000001.journal'), bytes)
        found(openFileJournal(dir, silentLog))
      }),
      { numRuns: 200 },
    )
  })

  it('reads a segment of an earlier version, larger than 2 GiB, in bounded memory', { timeout: 120_000 }, () => {
    const dir = newDir()
    mkdirSync(dir)
    const recordBytes = 8 * 2 ** 20
    const count = sampleOf(257, 384)
    const head = new DataView(new ArrayBuffer(9))
    head.setUint32(0, recordBytes)
    head.setUint32(4, crc32(new Uint8Array(1 + recordBytes)))
    const file = openSync(join(dir, '000000000001.journal'), 'w')
    for (let i = 0; i < count; i++) writeSync(file, head, 0, 9, i * (9 + recordBytes))
    ftruncateSync(file, count * (9 + recordBytes))
    closeSync(file)
    using journal = openFileJournal(dir, silentLog)
    let [read, last, peakBytes] = [0, 0, 0]
    const beforeBytes = process.memoryUsage().rss
    for (const { bytes, offset } of journal.records()) {
      if (bytes.length === recordBytes) read++
      last = offset
      if (read % 16 === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().rss - beforeBytes)
    }
    expect([read, last]).toEqual([count, (count - 1) * (9 + recordBytes)])
    expect(peakBytes).toBeLessThan(512 * 2 ** 20)
    expect(journal.read({ segment: 1, offset: last })).toHaveLength(recordBytes)
  })

  it('rejects a record that was damaged after it was read (STORE_FAILED)', () => {
    const dir = filled()
    using journal = openFileJournal(dir, silentLog)
    const [place] = journal.records()
    const bytes = readFileSync(first(dir))
    bytes[10] = (bytes[10] ?? 0) ^ 1
    writeFileSync(first(dir), bytes)
    expect(() => journal.read(place as JournalPlace)).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }))
  })

  it('ignores files with other names', () => {
    const dir = filled()
    writeFileSync(join(dir, 'notes.txt'), 'x')
    expect(found(openFileJournal(dir, silentLog)).length).toBe(4)
  })

  it('directory and files are readable by their owner only', () => {
    const dir = filled()
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(first(dir)).mode & 0o777).toBe(0o600)
  })

  it('names a directory that cannot be created (DATADIR_UNWRITABLE)', () => {
    const file = newDir()
    writeFileSync(file, '')
    expect(() => openFileJournal(join(file, 'below'), silentLog)).toThrow(expect.objectContaining({ code: 'DATADIR_UNWRITABLE' }))
  })

  it('removes a partly written record on a full disk, still appends shorter records, and a kill loses no record (STORE_FAILED)', async () => {
    const dir = newDir()
    const script = `
      import { openFileJournal } from '#store/fileJournal'
      import { silentLog } from '#lib/log'
      const journal = openFileJournal(${JSON.stringify(dir)}, silentLog)
      let said = ''
      journal.append({ kind: 'block', bytes: Uint8Array.of(1) })
      try { journal.append({ kind: 'block', bytes: new Uint8Array(400_000) }) } catch (error) { said = error.code }
      journal.append({ kind: 'block', bytes: Uint8Array.of(2) })
      process.stdout.write(said)
      setInterval(() => journal, 1000)`
    const command = `ulimit -f 200; exec "$0" --input-type=module-typescript -e "$1"`
    const child = spawn('bash', ['-c', command, process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(String(said)).toMatch(/STORE_FAILED|DISK_FULL/)
    expect(found(openFileJournal(dir, silentLog))).toEqual(['1 block 1', '1 block 2'])
  })
})

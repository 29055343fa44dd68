import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type SegmentRecord, segmentFileName } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { hashFromBytes } from '#types/ids'
import { type ChunkEntry, fileOf, sha256 } from '../format/manifest.ts'
import { ChunkFiles } from './chunkFiles.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-chunk-files-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Flips a bit of a file. @returns its bytes before */
function damage(path: string): Buffer {
  const bytes = readFileSync(path)
  writeFileSync(
    path,
    bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte)),
  )
  return bytes
}

const content = Buffer.from('a segment file')
const hash = hashFromBytes(new Uint8Array(32))
const record: SegmentRecord = {
  ...{ table: tables.headers.id, first: 0, last: 9, firstHash: hash, lastHash: hash },
  ...{ digest: sha256(content), fileBytes: content.length, rowBytes: 100 },
}

it.each<[string, (files: ChunkFiles) => ChunkEntry | Promise<ChunkEntry>]>([
  ['chunk', (files) => files.add(Buffer.from('the content of a chunk'), { kind: 'codes' })],
  [
    'segment file',
    (files): ChunkEntry => {
      using scratch = files.scratch()
      mkdirSync(scratch.dir)
      writeFileSync(join(scratch.dir, segmentFileName(record)), content)
      return files.takeSegment(scratch.dir, record)
    },
  ],
])('snapshot/create/chunkFiles: re-uses a %s that is whole, and replaces a damaged one of the same size', async (_what, add) => {
  const path = join(dir, fileOf(await add(new ChunkFiles(dir))))
  const again = new ChunkFiles(dir)
  await add(again)
  expect(again).toMatchObject({ reused: 1, written: 0 })
  const whole = damage(path)
  const repairing = new ChunkFiles(dir)
  await add(repairing)
  expect(repairing).toMatchObject({ reused: 0, written: 1 })
  expect(readFileSync(path)).toEqual(whole)
})

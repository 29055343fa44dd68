import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { readFileText, readJsonFile } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-files-'))
afterAll(() => rmSync(dir, { recursive: true }))
function file(name: string, content: string | Uint8Array): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
const text = '{"chain": "Größe €", "numbers": [1, 2]}\n'
const zstd = zstdCompressSync(Buffer.from(text))

it('cli/files: reads a file as UTF-8, a file named .zst after decompression', () => {
  expect(readFileText(file('a.json', text))).toBe(text)
  expect(readFileText(file('a.json.zst', zstd))).toBe(text)
  expect(readJsonFile(file('b.json.zst', zstd))).toEqual({ chain: 'Größe €', numbers: [1, 2] })
})

it.each([
  ['that does not exist', join(dir, 'none'), 'ENOENT'],
  ['that is a directory', dir, 'EISDIR'],
])('cli/files: names a file %s with the reason (UNREADABLE_FILE)', (_what, path, reason) => {
  expect(() => readFileText(path)).toThrow(
    expect.objectContaining({ code: 'UNREADABLE_FILE', severity: 'fatal', data: { path, reason: expect.stringContaining(reason) } }),
  )
})

it.each<[string, string | Uint8Array]>([
  ['JSON with a zstd name', text],
  ['no bytes', ''],
  ['cut by one byte', zstd.subarray(0, -1)],
  ['cut in the middle', zstd.subarray(0, 20)],
  ['another beginning', zstd.map((byte, at) => (at === 0 ? byte ^ 0xff : byte))],
])('cli/files: names a zstd file with %s (BAD_FILE)', (what, content) => {
  const path = file(`${what}.zst`, content)
  expect(() => readFileText(path)).toThrow(
    expect.objectContaining({ code: 'BAD_FILE', severity: 'fatal', data: { path, expected: 'a zstd file', reason: expect.any(String) } }),
  )
})

it('cli/files: names a file that is not JSON (BAD_FILE)', () => {
  const path = file('bad.json', '{"genesis":\n')
  expect(() => readJsonFile(path)).toThrow(
    expect.objectContaining({ code: 'BAD_FILE', message: expect.stringContaining(`${path} is not JSON`) }),
  )
})

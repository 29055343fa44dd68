import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { readFileLines, readJsonFile, readJsonInput } from './files.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-files-'))
afterAll(() => rmSync(dir, { recursive: true }))
function file(name: string, content: string | Uint8Array): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
const text = '{"chain": "Größe €", "numbers": [1, 2]}\n'
const zstd = zstdCompressSync(Buffer.from(text))

const read = async (path: string): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const line of readFileLines(path).lines) found.push(line)
  return found
}

it('cli/files: reads a file as UTF-8, a file named .zst after decompression', () => {
  expect(readJsonFile(file('b.json', text))).toEqual({ chain: 'Größe €', numbers: [1, 2] })
  expect(readJsonFile(file('b.json.zst', zstd))).toEqual({ chain: 'Größe €', numbers: [1, 2] })
})

it('cli/files: reads JSON up to a size, in lines or in one, and refuses more of it (BAD_FILE)', async () => {
  const path = file('c.json', JSON.stringify({ a: [1, 2] }, null, 1))
  expect(await readJsonInput(path, 100)).toEqual({ a: [1, 2] })
  expect(await readJsonInput(file('c.json.zst', zstd), 100)).toEqual({ chain: 'Größe €', numbers: [1, 2] })
  await expect(readJsonInput(path, 10)).rejects.toMatchObject({
    code: 'BAD_FILE',
    message: expect.stringContaining('more than 10 characters'),
  })
  await expect(readJsonInput(file('d.json', '{'), 10)).rejects.toMatchObject({ code: 'BAD_FILE' })
  await expect(readJsonInput(file('e.json', ' '.repeat(2_000_000)), 10)).rejects.toMatchObject({ code: 'BAD_FILE' })
})

it('cli/files: reads lines that cross its pieces, empty lines, and a last line without an end', async () => {
  const long = 'Größe €'.repeat(100_000)
  const lines = ['first', '', long, ...Array.from({ length: 20_000 }, (_, at) => `€ ${at}`), long, 'last']
  const [plain, packed] = [file('lines', lines.join('\n')), file('lines.zst', zstdCompressSync(Buffer.from(lines.join('\n'))))]
  expect(await read(plain)).toEqual(lines)
  expect(await read(packed)).toEqual(lines)
  expect(await read(file('ended', 'a\nb\n'))).toEqual(['a', 'b'])
  expect(await read(file('empty', ''))).toEqual([])
})

it('cli/files: returns the part of a file of lines that it has read', async () => {
  const { lines, readShare } = readFileLines(file('shares', 'x\n'.repeat(1_000_000)))
  const shares: number[] = []
  for await (const _ of lines) shares.push(readShare() ?? 0)
  expect(shares[0]).toBeGreaterThan(0)
  expect(shares[0]).toBeLessThan(0.5)
  expect(shares.at(-1)).toBe(1)
})

it('cli/files: refuses a line without end (BAD_FILE)', async () => {
  const path = file('endless.zst', zstdCompressSync(Buffer.alloc(2 ** 28 + 1, 'x')))
  await expect(read(path)).rejects.toThrow(
    expect.objectContaining({ code: 'BAD_FILE', message: expect.stringContaining('a line exceeds') }),
  )
})

it.each([
  ['that does not exist', join(dir, 'none'), 'ENOENT'],
  ['that is a directory', dir, 'EISDIR'],
])('cli/files: names a file %s with the reason (UNREADABLE_FILE)', async (_what, path, reason) => {
  const fault = expect.objectContaining({
    code: 'UNREADABLE_FILE',
    severity: 'fatal',
    data: { path, reason: expect.stringContaining(reason) },
  })
  expect(() => readJsonFile(path)).toThrow(fault)
  await expect(async () => read(path)).rejects.toThrow(fault)
})

it.each<[string, string | Uint8Array]>([
  ['JSON with a zstd name', text],
  ['no bytes', ''],
  ['cut by one byte', zstd.subarray(0, -1)],
  ['cut in the middle', zstd.subarray(0, 20)],
  ['another beginning', zstd.map((byte, at) => (at === 0 ? byte ^ 0xff : byte))],
])('cli/files: names a zstd file with %s (BAD_FILE)', async (what, content) => {
  const path = file(`${what}.zst`, content)
  const fault = expect.objectContaining({
    code: 'BAD_FILE',
    severity: 'fatal',
    data: { path, expected: 'a zstd file', reason: expect.any(String) },
  })
  expect(() => readJsonFile(path)).toThrow(fault)
  await expect(read(path)).rejects.toThrow(fault)
})

it('cli/files: names a file that is not JSON (BAD_FILE)', () => {
  const path = file('bad.json', '{"genesis":\n')
  expect(() => readJsonFile(path)).toThrow(
    expect.objectContaining({ code: 'BAD_FILE', message: expect.stringContaining(`${path} is not JSON`) }),
  )
})

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { blake3 } from '@noble/hashes/blake3.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TarEntry, tarFile } from '#test/harness/snapshot/tarFile'
import type { Archive } from './manifest.ts'
import { isUnpacked, unpackArchive } from './unpack.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'basalt-unpack-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const entries: readonly TarEntry[] = [
  { name: 'db/database.version', bytes: Uint8Array.of(0x32) },
  {
    name: 'db/mdbx.dat',
    bytes: Uint8Array.from([...new Uint8Array(100).fill(7), ...new Uint8Array(300_000), 9, ...new Uint8Array(200_000)]),
  },
]
const archiveOf = (files: readonly TarEntry[]): Archive => ({
  path: 'state.tar.zst',
  sizeBytes: 1,
  files: files.map(({ name, bytes }) => ({ path: name, sizeBytes: bytes.length, blake3: Buffer.from(blake3(bytes)).toString('hex') })),
})
const unpack = (
  tar: Uint8Array,
  archive: Archive,
  signal = new AbortController().signal,
  compressed: Uint8Array = zstdCompressSync(tar),
): Promise<void> => unpackArchive({ chunks: chunksOf(compressed), onBytes: () => {}, signal }, archive, dir)
async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000)
}

describe('snapshot/reth/unpack', () => {
  it('writes the listed files, with holes instead of zeros', async () => {
    const archive = archiveOf(entries)
    expect(isUnpacked(dir, archive)).toBe(false)
    await unpack(tarFile(entries), archive)
    expect(isUnpacked(dir, archive)).toBe(true)
    for (const { name, bytes } of entries) expect(new Uint8Array(readFileSync(join(dir, name)))).toEqual(bytes)
    expect(statSync(join(dir, 'db/mdbx.dat')).blocks * 512).toBeLessThan(300_000)
  })

  it.each<[string, readonly TarEntry[], Archive, RegExp]>([
    [
      'a file that is not listed',
      [...entries, { name: 'x', bytes: new Uint8Array(3) }],
      archiveOf(entries),
      /at x: the manifest does not list this file/,
    ],
    ['a path out of the folder', [{ name: '../x', bytes: new Uint8Array(3) }], archiveOf(entries), /does not list this file/],
    ['a file twice', [...entries, ...entries], archiveOf(entries), /has it twice/],
    ['a file that is missing', entries.slice(1), archiveOf(entries), /at db\/database.version: the archive lacks this file/],
    [
      'a file of another size',
      [{ name: 'db/mdbx.dat', bytes: new Uint8Array(5) }],
      archiveOf(entries),
      /its size is 5, the manifest says 500101/,
    ],
    [
      'a file with another content',
      entries.map(({ name, bytes }) => ({ name, bytes: bytes.map((byte) => byte ^ 1) })),
      archiveOf(entries),
      /its BLAKE3 hash is/,
    ],
  ])('refuses %s, and writes nothing else (SNAPSHOT_FILE_DAMAGED)', async (_, given, archive, text) => {
    await expect(unpack(tarFile(given), archive)).rejects.toThrow(text)
    for (const { name, bytes } of entries) {
      const path = join(dir, name)
      expect(existsSync(path) ? new Uint8Array(readFileSync(path)) : bytes).toEqual(bytes)
    }
    expect([existsSync(join(dir, 'x')), existsSync(join(dir, '../x'))]).toEqual([false, false])
  })

  it('refuses compressed bytes that are cut, or are none (SNAPSHOT_FILE_DAMAGED)', async () => {
    const archive = archiveOf(entries)
    const whole = zstdCompressSync(tarFile(entries))
    const { signal } = new AbortController()
    await expect(unpack(whole, archive, signal, whole.subarray(0, whole.length - 5))).rejects.toThrow(/is damaged at/)
    await expect(unpack(whole, archive, signal, Uint8Array.of(1, 2, 3))).rejects.toThrow(/its compressed bytes/)
  })

  it('stops at a bomb: a small archive of gigabytes of zeros', async () => {
    const bomb = zstdCompressSync(Buffer.concat([tarFile(entries), new Uint8Array(64 << 20)]))
    expect(bomb.length).toBeLessThan(20_000)
    await expect(unpack(bomb, archiveOf(entries), new AbortController().signal, bomb)).rejects.toThrow(/bytes follow its end/)
  })

  it('unpacks again after an interruption', async () => {
    const archive = archiveOf(entries)
    writeFileSync(join(dir, 'left over'), '')
    const stop = new AbortController()
    stop.abort(new Error('stopped'))
    await expect(unpack(tarFile(entries), archive, stop.signal)).rejects.toThrow()
    expect(isUnpacked(dir, archive)).toBe(false)
    await unpack(tarFile(entries), archive)
    expect(isUnpacked(dir, archive)).toBe(true)
  })
})

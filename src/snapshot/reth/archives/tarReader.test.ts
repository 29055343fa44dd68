import { describe, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { type TarEntry, tarFile } from '#test/harness/snapshot/tarFile'
import { TarReader } from './tarReader.ts'

const content = (size: number, seed = size): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 7 + seed) % 251)

function read(archive: Uint8Array, chunkOf: () => number = () => 1_000): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  let open: { name: string; size: number; parts: Uint8Array[] } | undefined
  const reader = new TarReader(
    {
      open: (name, size) => {
        open = { name, size, parts: [] }
      },
      write: (bytes) => void open?.parts.push(bytes.slice()),
      close: () => {
        if (open) files.set(open.name, Buffer.concat(open.parts))
        expect(files.get(open?.name ?? '')?.length).toBe(open?.size)
      },
    },
    (place, reason) => new Error(`${place}: ${reason}`),
  )
  for (let at = 0; at < archive.length; ) {
    const chunk = archive.subarray(at, at + Math.max(1, chunkOf()))
    reader.push(chunk)
    at += chunk.length
  }
  reader.end()
  return files
}

const entries: readonly TarEntry[] = [
  { name: 'db/database.version', bytes: content(1) },
  { name: 'db/empty', bytes: content(0) },
  { name: 'db/mdbx.dat', bytes: content(5_000) },
  { name: 'static_files/block', bytes: content(1_024) },
]
const expected = (): Map<string, Buffer> => new Map(entries.map(({ name, bytes }) => [name, Buffer.from(bytes)]))

describe('snapshot/reth/tar', () => {
  it('reads files of any size in chunks of any size', () => {
    const archive = tarFile(entries)
    const roll = dice(1)
    for (const most of [1, 3, 511, 513, 10_000]) expect(read(archive, () => 1 + roll(most))).toEqual(expected())
  })

  it('reads sizes in binary digits, prefixes of names, and an archive without its last blocks', () => {
    expect(read(tarFile(entries, { binarySizes: true }))).toEqual(expected())
    expect(read(tarFile([{ name: 'name', prefix: 'folder/in', bytes: content(3) }]))).toEqual(
      new Map([['folder/in/name', Buffer.from(content(3))]]),
    )
    expect(read(tarFile(entries).slice(0, -1_024))).toEqual(expected())
  })

  it.each([
    ['a folder', '5'],
    ['a hard link', '1'],
    ['a symbolic link', '2'],
    ['a device', '3'],
    ['a long name', 'L'],
    ['an extended header', 'x'],
    ['a sparse file', 'S'],
  ])('refuses %s', (_, kind) => {
    expect(() => read(tarFile([{ name: 'a', bytes: content(0), kind }]))).toThrow('no header of a regular file')
  })

  it('refuses a wrong checksum, a cut archive, and bytes after the end', () => {
    const archive = tarFile(entries)
    expect(() => read(archive.map((byte, at) => (at === 0 ? byte ^ 1 : byte)))).toThrow('no header of a regular file')
    expect(() => read(archive.slice(0, 700))).toThrow('ends inside a file')
    expect(() => read(archive.slice(0, 300))).toThrow('ends inside a file')
    expect(() => read(Uint8Array.from([...archive, 1]))).toThrow('bytes follow its end')
    expect(() => read(Uint8Array.from([...archive, ...new Uint8Array(2 << 20)]), () => 1 << 18)).toThrow('bytes follow its end')
  })

  it('names control characters in no file', () => {
    expect(() => read(tarFile([{ name: 'a\nb', bytes: content(0) }]))).toThrow('no header of a regular file')
  })

  it('ends on damaged archives with the files as they were or an error', () => {
    const archive = tarFile(entries)
    const roll = dice(2)
    for (let i = 0; i < 500; i++) {
      const damaged = archive.slice(0, roll(8) === 0 ? roll(archive.length) : archive.length)
      for (let flips = roll(4); flips >= 0; flips--) damaged[roll(damaged.length)] = roll(256)
      try {
        for (const name of read(damaged).keys()) expect(name.length).toBeLessThanOrEqual(256)
      } catch (error) {
        expect((error as Error).message).toMatch(/^byte \d+ of the unpacked archive: /)
      }
    }
  })
})

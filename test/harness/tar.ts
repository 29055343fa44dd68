import { readShared } from './sharedData.ts'

const blockBytes = 512

/** The files of an uncompressed tar archive by name, without a leading `./`; folders and links are left out. */
export function filesOfTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const name = textOf(archive, at, 100)
    if (name === '') break
    const size = Number.parseInt(textOf(archive, at + 124, 12), 8)
    const kind = textOf(archive, at + 156, 1)
    const prefix = textOf(archive, at + 257, 5) === 'ustar' ? textOf(archive, at + 345, 155) : ''
    const content = at + blockBytes
    if (kind === 'x' || kind === 'L') throw new Error(`${name}: long names are not read here`)
    if (kind === '0' || kind === '')
      files.set(`${prefix ? `${prefix}/` : ''}${name}`.replace(/^\.\//, ''), archive.subarray(content, content + size))
    at = content + Math.ceil(size / blockBytes) * blockBytes
  }
  return files
}

/** The files of a `.tar.zst` of the recorded data. */
export function readSharedTar(path: string): Map<string, Buffer> {
  return filesOfTar(readShared(path))
}

function textOf(archive: Buffer, at: number, length: number): string {
  const field = archive.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end).trim()
}

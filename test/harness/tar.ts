import { readShared } from './sharedData.ts'

const blockBytes = 512

/** Returns the files of an uncompressed tar archive by name, without a leading `./`. Folders and links are omitted. */
function filesOfTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  let longName: string | undefined
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const name = longName ?? nameOf(archive, at)
    if (name === '') break
    const size = Number.parseInt(textOf(archive, at + 124, 12), 8)
    const kind = textOf(archive, at + 156, 1)
    const content = archive.subarray(at + blockBytes, at + blockBytes + size)
    if (kind === 'x') throw new Error(`${name}: tar headers of kind x are not supported`)
    if (kind === '0' || kind === '') files.set(name.replace(/^\.\//, ''), content)
    longName = kind === 'L' ? textOf(content, 0, size) : undefined
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes
  }
  return files
}

/** Returns the files of a `.tar.zst` archive of the recorded data. */
export function readSharedTar(path: string): Map<string, Buffer> {
  return filesOfTar(readShared(path))
}

/** Name in the header at `at`. A name of more than 100 bytes is in an entry of kind `L` before the entry of its file. */
function nameOf(archive: Buffer, at: number): string {
  const prefix = textOf(archive, at + 257, 5) === 'ustar' && archive[at + 262] === 0 ? textOf(archive, at + 345, 155) : ''
  return `${prefix ? `${prefix}/` : ''}${textOf(archive, at, 100)}`
}

function textOf(archive: Buffer, at: number, length: number): string {
  const field = archive.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end).trim()
}

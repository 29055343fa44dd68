import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes } from '#lib/bytes'
import { errorMessage } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { type Header, hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { rethFault } from '../../faults.ts'
import { decodeCompactHeader } from './compactHeader.ts'
import { StaticFile } from './staticFile.ts'

const fileName = /^static_file_headers_(\d{1,15})_(\d{1,15})$/
const headerColumns = 3

/** A header with its hash, computed here. */
export type HashedHeader = { readonly header: Header; readonly hash: Hash }

/**
 * Reads the headers of a block and of the blocks before it, linked by their parent hashes.
 * @param dir folder of the static files
 * @param ancestors most headers before the block; fewer at the start of the chain
 * @returns ascending, the block last
 * @throws Fault SNAPSHOT_FILE_MISSING, SNAPSHOT_FILE_DAMAGED, SNAPSHOT_FORMAT_UNSUPPORTED
 */
export function readHeaders(dir: string, number: number, ancestors: number): readonly HashedHeader[] {
  const files = listFiles(dir)
  const headers: HashedHeader[] = []
  let open: { readonly first: number; readonly file: StaticFile } | undefined
  try {
    for (let at = number; at >= Math.max(0, number - ancestors); at--) {
      if (open && at < open.first) {
        open.file[Symbol.dispose]()
        open = undefined
      }
      open ??= openFor(dir, files, at)
      headers.push(linkedHeader(open.file, at, headers.at(-1)))
    }
  } finally {
    open?.file[Symbol.dispose]()
  }
  return headers.reverse()
}

type Named = { readonly name: string; readonly first: number; readonly last: number }

function listFiles(dir: string): readonly Named[] {
  try {
    return readdirSync(dir).flatMap((name) => {
      const [, first, last] = fileName.exec(name) ?? []
      return first === undefined ? [] : [{ name, first: Number(first), last: Number(last) }]
    })
  } catch (error) {
    throw rethFault('SNAPSHOT_FILE_MISSING', { file: dir, reason: errorMessage(error) }, error)
  }
}

function openFor(dir: string, files: readonly Named[], number: number): { readonly first: number; readonly file: StaticFile } {
  const named = files.find(({ first, last }) => first <= number && number <= last)
  if (!named) throw rethFault('SNAPSHOT_FILE_MISSING', { file: dir, reason: `it has no file with the header of block ${number}` })
  const file = new StaticFile(join(dir, named.name))
  const { segment, columns, rows, blocks } = file.config
  const isWhole = segment === 'headers' && columns === headerColumns && blocks && rows === blocks.last - blocks.first + 1
  if (isWhole && blocks.first <= number && number <= blocks.last) return { first: blocks.first, file }
  file[Symbol.dispose]()
  throw rethFault('SNAPSHOT_FILE_DAMAGED', {
    file: `${named.name}.conf`,
    place: 'its fields',
    reason: `it has no header of block ${number}`,
  })
}

/** Reads a header, and checks its number, its stored hash, and that the block after it names it as parent. */
function linkedHeader(file: StaticFile, number: number, child: HashedHeader | undefined): HashedHeader {
  const row = number - (file.config.blocks?.first ?? 0)
  const [compact, , storedHash] = file.row(row)
  const header = compact && decodeCompactHeader(compact)
  if (!header || !storedHash) throw file.damaged(row, 'it is no header')
  if (header.number !== number) throw file.damaged(row, `it is the header of block ${header.number}`)
  const hash = hashHeader(header)
  if (!equalBytes(fromHex(hash), storedHash)) throw file.damaged(row, `the header has hash ${hash}, another one is stored beside it`)
  if (child && child.header.parentHash !== hash) throw file.damaged(row, `it is not the parent of block ${number + 1}`)
  return { header, hash }
}

import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import { cliFault } from '../faults.ts'

/** File to write; `isSecret`: readable by its owner only. */
export type ExportFile = { readonly name: string; readonly text: string; readonly isSecret: boolean }

function writeWhole(path: string, { text, isSecret }: ExportFile): void {
  const file = openSync(path, 'wx', isSecret ? 0o600 : 0o644)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes files to a directory, which is created. Effects, in order: 1 all files under temporary names, flushed to disk, 2 their final names. An error
 * in step 1 leaves the directory as it was.
 * @param isReplacing false: refuses when one of the files exists
 * @throws Fault EXPORT_EXISTS, EXPORT_UNWRITABLE (fatal)
 */
export function writeExport(directory: string, files: readonly ExportFile[], isReplacing: boolean): void {
  const places = files.map((file) => ({ file, path: join(directory, file.name) }))
  const existing = places.find(({ path }) => existsSync(path))
  if (existing && !isReplacing) throw cliFault('EXPORT_EXISTS', { path: existing.path })
  const suffix = `.${randomBytes(8).toString('hex')}`
  const written: string[] = []
  try {
    mkdirSync(directory, { recursive: true })
    for (const { file, path } of places) {
      written.push(path + suffix)
      writeWhole(path + suffix, file)
    }
    for (const { path } of places) renameSync(path + suffix, path)
  } catch (error) {
    for (const path of written) rmSync(path, { force: true })
    throw cliFault('EXPORT_UNWRITABLE', { directory, reason: errorMessage(error) }, error)
  }
}

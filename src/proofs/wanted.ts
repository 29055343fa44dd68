import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { proofsTables } from '#store/tables'

const key = new TextEncoder().encode('proofs.wanted')

/** Returns the block whose state is wanted as the oldest one, if the operator asked for one. */
export function readWanted(reader: KvReader): number | undefined {
  const mark = reader.get(proofsTables.meta.id, key)
  return mark && u64FromBytes(mark)
}

export function writeWanted(tx: KvWriter, number: number): void {
  tx.put(proofsTables.meta.id, key, u64Bytes(number))
}

const requestIn = (dir: string): string => join(dir, 'wanted')

/** Leaves a request for the process that has the tables open. @param number block whose state is wanted as the oldest one */
export function requestWanted(dir: string, number: number): void {
  const path = requestIn(dir)
  writeFileSync(`${path}.new`, `${number}\n`)
  renameSync(`${path}.new`, path)
}

/** Takes a request, if there is one. A file with other contents is removed. */
export function takeRequest(dir: string): number | undefined {
  const path = requestIn(dir)
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
  rmSync(path, { force: true })
  return /^\d{1,15}\n$/.test(text) ? Number(text) : undefined
}

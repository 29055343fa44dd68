import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { proofsTables } from '#store/tables'

const key = new TextEncoder().encode('proofs.wanted')

/** Returns the block whose state is wanted as the oldest one, while an operator asked for it and it is not reached. */
export function readWanted(reader: KvReader): number | undefined {
  const mark = reader.get(proofsTables.meta.id, key)
  return mark && u64FromBytes(mark)
}

/** Marks a block whose state is wanted as the oldest one. An earlier mark that reaches further back stays. */
export function writeWanted(tx: KvWriter, number: number): void {
  tx.put(proofsTables.meta.id, key, u64Bytes(Math.min(number, readWanted(tx) ?? number)))
}

export function dropWanted(tx: KvWriter): void {
  tx.delete(proofsTables.meta.id, key)
}

const requestIn = (dir: string): string => join(dir, 'wanted')

/** Leaves a request for the process that has the tables open. @param number block whose state is wanted as the oldest one */
export function requestWanted(dir: string, number: number): void {
  const path = requestIn(dir)
  writeFileSync(`${path}.new`, `${number}\n`)
  renameSync(`${path}.new`, path)
}

/** Request that was taken and is not written to the tables yet. */
const takenIn = (dir: string): string => join(dir, 'wanted.taken')

/** Returns whether a request is not written to the tables yet. */
export const hasRequest = (dir: string): boolean => existsSync(requestIn(dir)) || existsSync(takenIn(dir))

/**
 * Takes a request, if there is one. It is there again after a stop, or after an error, unless `endRequest` was called.
 * @returns its number; undefined also for a file with other contents
 */
function takeRequest(dir: string): number | undefined {
  let text: string
  try {
    if (!existsSync(takenIn(dir))) renameSync(requestIn(dir), takenIn(dir))
    text = readFileSync(takenIn(dir), 'latin1')
  } catch {
    return undefined
  }
  if (/^\d{1,15}\n$/.test(text)) return Number(text)
  endRequest(dir)
  return undefined
}

/** Writes a request, if there is one, to the tables, then ends it. */
export function acceptRequest(kv: Kv, dir: string): void {
  const wanted = takeRequest(dir)
  if (wanted === undefined) return
  kv.write((tx) => writeWanted(tx, wanted))
  endRequest(dir)
}

/** Ends the request that was taken. */
function endRequest(dir: string): void {
  rmSync(takenIn(dir), { force: true })
}

// Stored cases with the oracle's results: minimised differences, and a sample of the targeted cases.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import type { KeptCase } from './wire.ts'

export const keptFolder: string = resolve(import.meta.dirname, '../fixtures/oracle-cases')
const sampleFile = resolve(keptFolder, 'sample.json.zst')

/** Writes a case to a file named by a hash of its content. @returns its path */
export function keep(folder: string, kept: KeptCase): string {
  const text = `${JSON.stringify(kept, null, 2)}\n`
  const path = resolve(folder, `${kept.case.fork}-${toHex(keccak256Text(text)).slice(2, 10)}.json`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, text)
  return path
}

/** Reads the minimised differences. */
export const readKept = (): KeptCase[] =>
  readdirSync(keptFolder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(resolve(keptFolder, name), 'utf8')) as KeptCase)

export function writeSample(cases: readonly KeptCase[]): void {
  mkdirSync(keptFolder, { recursive: true })
  writeFileSync(sampleFile, zstdCompressSync(JSON.stringify(cases)))
}

export const readSample = (): KeptCase[] => JSON.parse(zstdDecompressSync(readFileSync(sampleFile)).toString('utf8')) as KeptCase[]

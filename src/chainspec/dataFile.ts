import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'

const at = (name: string): URL => new URL(`./data/${name}`, import.meta.url)

/** Reads the JSON of a compressed data file of this module. */
export function readDataJson(name: string): unknown {
  return JSON.parse(zstdDecompressSync(readFileSync(at(name))).toString())
}

export function readDataText(name: string): string {
  return readFileSync(at(name), 'utf8')
}

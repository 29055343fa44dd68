import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type { RecordedChainName } from '#devnet/recordedChain'
import { u64FromBytes } from '#lib/bytes'
import type { Kv } from '#store/ports'
import { chainSchema } from '#store/schema'

/** The chain in the fixtures, which other clients sequenced, and the number of its blocks in them. */
export const chainName: RecordedChainName = 'op-bedrock-to-holocene'
export const importedBlocks = 48

/** A data directory of each schema: `schemaN`. */
export const fixturesFile: string = join(import.meta.dirname, 'fixtures/stores.tar.zst')

function tar(...args: readonly string[]): string {
  return execFileSync('tar', args, { input: zstdDecompressSync(readFileSync(fixturesFile)), encoding: 'utf8' })
}

/** Returns the schemas of which there is a fixture, in their order. */
export function fixtureSchemas(): number[] {
  const names = tar('-t').matchAll(/^\.\/schema(\d+)\/$/gm)
  return Array.from(names, ([, schema]) => Number(schema)).sort((a, b) => a - b)
}

/** Unpacks the data directory that an older version wrote. */
export function unpackFixture(schema: number, datadir: string): void {
  mkdirSync(datadir, { recursive: true })
  tar('-x', '-C', datadir, '--strip-components=2', `./schema${schema}`)
}

/** Returns the schema of a chain's environment; 0: it has none. */
export function schemaOf(kv: Kv): number {
  using snapshot = kv.snapshot()
  const mark = snapshot.get(chainSchema.metaTable, new TextEncoder().encode('schema'))
  return mark === undefined ? 0 : u64FromBytes(mark)
}

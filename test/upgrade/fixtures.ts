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

export const fixtureOf = (schema: number): string => join(import.meta.dirname, `fixtures/schema${schema}.tar.zst`)

/** Unpacks the data directory that an older version wrote. */
export function unpackFixture(schema: number, datadir: string): void {
  mkdirSync(datadir, { recursive: true })
  execFileSync('tar', ['-x', '-C', datadir], { input: zstdDecompressSync(readFileSync(fixtureOf(schema))) })
}

/** Returns the schema of a chain's environment; 0: it has none. */
export function schemaOf(kv: Kv): number {
  using snapshot = kv.snapshot()
  const mark = snapshot.get(chainSchema.metaTable, new TextEncoder().encode('schema'))
  return mark === undefined ? 0 : u64FromBytes(mark)
}

import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Hash } from '#types/ids'
import { type ChunkEntry, type Manifest, parseManifest, signManifest, snapshotFormat } from './manifest.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const hash = `0x${'11'.repeat(32)}` as Hash
const chunk: ChunkEntry = { kind: 'blocks', name: '22'.repeat(32), size: 10, rawSize: 10 }
const manifest: Omit<Manifest, 'chunks'> = {
  format: snapshotFormat,
  chainId: 8_453,
  genesis: hash,
  flavour: 'minimal',
  block: { number: 7, hash, stateRoot: hash, timestamp: 9 },
  accounts: 1,
  slots: 1,
  codes: 1,
  bytes: 1,
  accountDepth: 0,
}

const parse = (chunks: readonly unknown[]): Manifest =>
  parseManifest(Buffer.from(signManifest({ ...manifest, chunks: chunks as readonly ChunkEntry[] }, privateKey).file), 'a.example').manifest
const refused = (reason: string) => expect.objectContaining({ code: 'MANIFEST_BAD', message: expect.stringContaining(reason) })

it.each([[null], [5], ['text'], [[]], [{}]])('format/manifest: refuses a signed manifest with the chunk %j (MANIFEST_BAD)', (bad) => {
  expect(parse([chunk])).toMatchObject({ chunks: [chunk] })
  expect(() => parse([chunk, bad])).toThrow(refused('chunk 1 in it is bad'))
})

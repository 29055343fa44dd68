import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Hash } from '#types/ids'
import { bounds, type ChunkEntry, type Manifest, parseManifest, signManifest, snapshotFormat } from './manifest.ts'

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

it('format/manifest: refuses more bytes of blocks and of trie nodes than a restore holds in memory (MANIFEST_BAD)', () => {
  const most: ChunkEntry = { ...chunk, rawSize: bounds.cutChunkBytes }
  const full = Array.from({ length: bounds.heldBytes.blocks / bounds.cutChunkBytes }, () => most)
  expect(parse(full).chunks).toHaveLength(full.length)
  expect(() => parse([...full, chunk])).toThrow(refused('its chunks of kind blocks have more than 4294967296 bytes'))
  expect(() => parse([{ ...most, rawSize: most.rawSize + 1 }])).toThrow(refused('chunk 0 in it is bad'))
  const top: ChunkEntry = { ...chunk, kind: 'top', rawSize: bounds.chunkBytes }
  expect(parse([chunk, top]).chunks).toHaveLength(2)
  expect(() => parse([top, { ...top, rawSize: 1 }])).toThrow(refused('its chunks of kind top have more than 268435456 bytes'))
})

import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { type PrecompileVector, wrongVectors } from '#test/harness/evm/precompileVectors'

/** The public vectors whose input has at most 4,096 bytes, but for the one of BLAKE2 with eight million rounds; all of them run in test/data. */
const sample: Record<string, PrecompileVector[]> = JSON.parse(
  zstdDecompressSync(readFileSync(new URL('../fixtures/precompile-vectors.json.zst', import.meta.url))).toString('utf8'),
)

it.each(Object.entries(sample))('evm/precompiles: every vector of %s has its output and price', (file, vectors) => {
  expect(vectors.length).toBeGreaterThan(0)
  expect(wrongVectors(file, vectors)).toEqual([])
})

it('evm/precompiles: the sample covers all 29 files and 1,700 vectors', () => {
  expect(Object.keys(sample)).toHaveLength(29)
  expect(Object.values(sample).flat().length).toBeGreaterThanOrEqual(1700)
})

import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { type PrecompileVector, wrongVectors } from '#test/harness/evm/precompileVectors'

/** Public vectors with inputs up to 4,096 bytes, except BLAKE2 with eight million rounds. test/data runs all vectors. */
const sample: Record<string, PrecompileVector[]> = JSON.parse(
  zstdDecompressSync(readFileSync(new URL('../fixtures/precompile-vectors.json.zst', import.meta.url))).toString('utf8'),
)

it.each(Object.entries(sample))('evm/precompiles: computes output and price of every vector of %s', (file, vectors) => {
  expect(vectors.length).toBeGreaterThan(0)
  expect(wrongVectors(file, vectors)).toEqual([])
})

it('evm/precompiles: has a sample of all 29 files and 1,700 vectors', () => {
  expect(Object.keys(sample)).toHaveLength(29)
  expect(Object.values(sample).flat().length).toBeGreaterThanOrEqual(1700)
})

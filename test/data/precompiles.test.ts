import { expect, it } from 'vitest'
import { type PrecompileVector, wrongVectors } from '#test/harness/evm/precompileVectors'
import { readSharedTar } from '#test/harness/tar'

const files = [...readSharedTar('spec/precompile-vectors.tar.zst')].map(([name, json]) => ({
  file: name.replace('.json', ''),
  vectors: JSON.parse(json.toString('utf8')) as PrecompileVector[],
}))

it('evm/precompiles: finds all 29 files of public vectors', () => {
  expect(files).toHaveLength(29)
})

it.each(files)('evm/precompiles: computes output and price of every vector of $file', ({ file, vectors }) => {
  expect(vectors.length).toBeGreaterThan(0)
  expect(wrongVectors(file, vectors)).toEqual([])
})

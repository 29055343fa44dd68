import { expect, it } from 'vitest'
import { blake2bRounds } from './blake2b.ts'

const bytes = (seed: number): Uint8Array => new Uint8Array(128).map((_, i) => (i * seed) ^ (i >> 1))

it('lib/blake2b: no round leaves the state as it is', () => {
  const state = bytes(7)
  blake2bRounds(state, bytes(11), 0)
  expect(state).toEqual(bytes(7))
})

it('lib/blake2b: rounds beyond one call of the module go on with the right order of words', () => {
  const [long, short] = [bytes(7), bytes(7)]
  blake2bRounds(long, bytes(11), 40_020)
  for (let i = 0; i < 4_002; i++) blake2bRounds(short, bytes(11), 10)
  expect(long).toEqual(short)
})

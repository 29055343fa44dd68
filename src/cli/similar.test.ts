import { expect, it } from 'vitest'
import { mostSimilar } from './similar.ts'

const known = ['BASALT_L1_RPC', 'BASALT_L1_BEACON', 'BASALT_MODE']

it.each([
  ['BASALT_L1_RCP', 'BASALT_L1_RPC'],
  ['BASALT_L1RPC', 'BASALT_L1_RPC'],
  ['BASALT_L1_BEACONS', 'BASALT_L1_BEACON'],
  ['BASALT_MOED', 'BASALT_MODE'],
  ['BASALT_SOMETHING_ELSE', undefined],
  ['', undefined],
])('cli/similar: suggests for %s the name %s', (given, meant) => {
  expect(mostSimilar(given, known)).toBe(meant)
})

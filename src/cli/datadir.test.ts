import { expect, it } from 'vitest'
import { datadirOf } from './datadir.ts'

it.each<[string, number, string]>([
  ['/data/{network}', 8_453, '/data/base'],
  ['/data/{network}', 84_532, '/data/base-sepolia'],
  ['/data/{network}/of/{network}', 901, '/data/chain-901/of/chain-901'],
  ['/data/basalt', 8_453, '/data/basalt'],
  ['/data/{other}', 8_453, '/data/{other}'],
])('cli/datadir: %s with chain %i becomes %s', (text, chainId, dir) => {
  expect(datadirOf(text, chainId)).toBe(dir)
})

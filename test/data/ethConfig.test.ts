import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { forkHash } from '#chainspec/forkId'
import { precompileNames } from '#chainspec/precompileNames'
import { parseReportedBlobs } from '#chainspec/reportedBlobs'
import { parseExchanges } from '#test/harness/rpc/exchanges'
import { sharedDataDir } from '#test/harness/sharedData'
import { ethereumRules } from '#test/vectors/ethereumFees'
import { hashFromBytes } from '#types/ids'

const folder = resolve(sharedDataDir, 'spec/rpc-compat')

/** Genesis hash: the parent hash of the first block in a file of RLP blocks. */
function genesisHash(): ReturnType<typeof hashFromBytes> {
  const chain = readFileSync(resolve(folder, 'chain.rlp'))
  const at = chain.indexOf(0xa0)
  expect(at).toBeLessThan(10)
  return hashFromBytes(chain.subarray(at + 1, at + 33))
}

/** Activations of the chain's forks: block numbers, then times. */
function activations(): readonly number[] {
  const { config } = JSON.parse(readFileSync(resolve(folder, 'genesis.json'), 'utf8')) as { config: Record<string, unknown> }
  const numbers = Object.entries(config).filter(([key, value]) => /(?:Block|Time)$/.test(key) && typeof value === 'number' && value > 0)
  return [...new Set(numbers.map(([, value]) => value as number))].sort((a, b) => a - b)
}

it('chainspec/reportedBlobs: reads the blob schedule of the conformance suite', () => {
  const [exchange = expect.fail()] = parseExchanges(readFileSync(resolve(folder, 'eth_config/get-config.io'), 'utf8'))
  const { result } = exchange.outcome as { result: unknown }
  const current = { fromSec: 540, params: { target: 14, max: 21, updateFraction: 11_684_671n } }
  expect(parseReportedBlobs(result, 3_503_995_874_084_926)).toMatchObject({ current })
})

it('chainspec/forkId, chainspec/precompileNames: gives the fork id and the names of the conformance suite', () => {
  const [exchange = expect.fail()] = parseExchanges(readFileSync(resolve(folder, 'eth_config/get-config.io'), 'utf8'))
  const { current } = (exchange.outcome as { result: { current: { forkId: string; precompiles: object } } }).result
  expect(forkHash(genesisHash(), activations())).toBe(current.forkId)
  expect(Object.fromEntries(precompileNames(ethereumRules.osaka))).toEqual(current.precompiles)
})

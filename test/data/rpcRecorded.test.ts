import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { compareExchanges, describeDifference } from '#test/harness/rpc/exchanges'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { sharedDataDir } from '#test/harness/sharedData'

/** The recorded chains without derivation: a difference is an error of a method or of execution. */
it.each([
  ['op-bedrock-to-holocene', 115, 595],
  ['op-ecotone-to-jovian', 163, 632],
])('rpc/methods: %s: returns the recorded result of every offered method', async (chainName, finalized, exchanges) => {
  const { eth, rollup } = await serveRecordedChain(chainName, finalized)
  await using _eth = eth
  await using _rollup = rollup
  const { equal, different } = await compareExchanges(eth.url, rollup.url, resolve(sharedDataDir, 'chains', chainName))
  expect(different.map(describeDifference)).toEqual([])
  expect(equal).toBe(exchanges)
})

import { Registry } from 'prom-client'
import { createL1Source, defaultL1Options } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { startFaultyL1 } from '../harness/l1/recordedL1.ts'
import { l1SourceContract } from './l1Source.ts'

l1SourceContract('in memory', async (chain) => ({
  source: chain.source(),
  changed: () => {},
  [Symbol.asyncDispose]: async () => {},
}))

for (const readAheadBlocks of [0, 8]) {
  l1SourceContract(`over HTTP, reading ${readAheadBlocks} blocks ahead`, async (chain) => {
    const server = await startFaultyL1(chain.recording())
    const deps = { fetch, clock: systemClock, random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()) }
    const urls = { rpcUrls: [server.url], beaconUrls: [server.url] }
    const source = createL1Source(deps, { ...defaultL1Options, ...urls, chainId: 900, readAheadBlocks })
    return {
      source,
      changed: () => server.replay(chain.recording(), chain.blocks.length - 1),
      [Symbol.asyncDispose]: async () => {
        source[Symbol.dispose]()
        await server[Symbol.asyncDispose]()
      },
    }
  })
}

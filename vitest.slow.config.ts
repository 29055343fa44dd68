import { defineConfig } from 'vitest/config'

/** The tests of which `npm test` and `npm run test:system` run a sample (`test/harness/sample.ts`), with all their cases. */
const sampled = [
  'src/batcher/batcherProperties.test.ts',
  'src/blockchain/{kill,reorg}.test.ts',
  'src/consensus/sequencerChaos.test.ts',
  'src/database/verify.test.ts',
  'src/node/hostileClients.test.ts',
  'src/proofs/recorder.test.ts',
  'src/snapshot/{hostile,load/stateLoader,reth/damage}.test.ts',
  'src/state/chainState.test.ts',
  'src/store/journal.test.ts',
  'test/b20/vectors.test.ts',
  'test/contract/engine.test.ts',
  'test/differential/{evmPrograms,tracedFrames}.test.ts',
  'test/faults/{evmHostile,executionWorker,node,senderThreads}.test.ts',
  'test/process/{cli,devnet,network,supervisor}.test.ts',
]

/** Tests that take long and rarely fail: the other suites leave them out. */
export const slowOnly: readonly string[] = [
  'src/{devnet/devnetPeers,p2p/thread/p2pThread}.test.ts',
  'test/{browser/page,browser/site,follow/recorded}.test.ts',
  'test/process/{anvilL1,consensusDisk,devnetB20,disk,executionDeath,halves,memoryMax,signals}.test.ts',
]

export default defineConfig({
  test: { include: [...sampled, ...slowOnly], env: { BASALT_TEST_SLOW: '1' }, maxWorkers: 2, testTimeout: 300_000, passWithNoTests: false },
})

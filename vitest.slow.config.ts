import { defineConfig } from 'vitest/config'

/** The tests of which `npm test` runs a sample (`test/harness/sample.ts`), with all their cases. */
const sampled = [
  'src/batcher/batcherProperties.test.ts',
  'src/blockchain/reorg.test.ts',
  'src/consensus/sequencerChaos.test.ts',
  'src/database/verify.test.ts',
  'src/state/chainState.test.ts',
  'src/store/journal.test.ts',
  'test/contract/engine.test.ts',
  'test/differential/{evmPrograms,tracedFrames}.test.ts',
  'test/process/{devnet,signals}.test.ts',
]

/** Tests that take long and rarely fail: `npm test` leaves them out. */
export const slowOnly: readonly string[] = [
  'test/follow/recorded.test.ts',
  'test/process/{anvilL1,devnetB20,disk,executionDeath,halves,memoryMax}.test.ts',
]

export default defineConfig({
  test: { include: [...sampled, ...slowOnly], env: { BASALT_TEST_SLOW: '1' }, maxWorkers: 2, testTimeout: 300_000, passWithNoTests: false },
})

import { defineConfig } from 'vitest/config'
import { slowOnly } from './vitest.slow.config.ts'
import { system } from './vitest.system.config.ts'

/** Without threads of their own: they run one after the other in the same process, which saves loading the sources. */
const modules =
  'lib proofVerifier p2p/protocol types chainspec trie evm nativeContracts state derive consensus engine block blockchain txpool proofs pending snapshot simulation executionThread batcher flashblocks l1 l2 rpc'
const shared = [
  ...modules.split(' ').map((name) => `src/${name}/**/*.test.ts`),
  'test/{b20,deploy,differential,independent,reference,vectors}/*.test.ts',
]

export default defineConfig({
  test: {
    // on two cores: many tests wait for processes
    maxWorkers: 3,
    // much is made and thrown away: with more room for what is young less of the time goes to collecting it
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      { test: { name: 'shared', include: shared, exclude: [...system], isolate: false, testTimeout: 30_000 } },
      {
        test: {
          name: 'alone',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...shared, ...slowOnly, ...system, 'test/data/**', 'node_modules/**'],
          testTimeout: 30_000,
        },
      },
    ],
    passWithNoTests: false,
  },
})

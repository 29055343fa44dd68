import { defineConfig } from 'vitest/config'

/** Modules without threads, processes and files of their own: their tests run one after the other in the same process, which saves loading the sources. */
const shared = ['lib', 'types', 'chain', 'trie', 'evm', 'state', 'derive', 'consensus', 'engine', 'l1', 'l2'].map(
  (name) => `src/${name}/**/*.test.ts`,
)

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { test: { name: 'shared', include: [...shared, 'src/rpc/*/**/*.test.ts'], isolate: false, testTimeout: 30_000 } },
      {
        test: {
          name: 'alone',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...shared, 'src/rpc/*/**/*.test.ts', 'test/data/**', 'node_modules/**'],
          testTimeout: 30_000,
        },
      },
    ],
    passWithNoTests: false,
  },
})

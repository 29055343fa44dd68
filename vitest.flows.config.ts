import { defineConfig } from 'vitest/config'

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 }

/** What people and programs do with a devnet: `flows` by viem and ethers as they are, `forks` across every fork. */
export default defineConfig({
  test: {
    passWithNoTests: false,
    maxWorkers: 2,
    projects: [
      { test: { name: 'flows', include: ['e2e/flows/**/*.test.ts'], globalSetup: ['e2e/flows/net.ts'], ...timeouts } },
      { test: { name: 'forks', include: ['e2e/forks/**/*.test.ts'], ...timeouts } },
    ],
  },
})

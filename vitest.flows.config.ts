import { defineConfig } from 'vitest/config'

/** What wallets and programs do with a devnet, by viem and ethers as they are. */
export default defineConfig({
  test: {
    include: ['e2e/flows/**/*.test.ts'],
    globalSetup: ['e2e/flows/net.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    passWithNoTests: false,
  },
})

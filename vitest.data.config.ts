import { defineConfig } from 'vitest/config'

/** The tests over the whole of the recorded data, which is not part of the repository. */
export default defineConfig({
  test: { include: ['test/data/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 600_000, passWithNoTests: false },
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/data/**', 'node_modules/**'],
    testTimeout: 30_000,
    maxWorkers: 2,
    passWithNoTests: false,
  },
})

// Runs the tests, then prints their number; a run without a test is a failure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runNode } from './process.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-test-'))
const report = join(folder, 'report.json')
const status = runNode('node_modules/vitest/vitest.mjs', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
])
const { numPassedTests = 0, numFailedTests = 0 } = JSON.parse(readFileSync(report, 'utf8')) as {
  numPassedTests?: number
  numFailedTests?: number
}
rmSync(folder, { recursive: true })
console.log(`${numPassedTests} passed, ${numFailedTests} failed`)
process.exitCode = numPassedTests === 0 ? 1 : status

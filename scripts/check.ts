// Checks a commit: Node version, lint and format, types (of modules for browsers without those of Node), generated docs, compiled contracts, compiled interpreter, built page, English.
import { runNode, runTool } from './process.ts'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) throw new Error(`Node ${process.versions.node} cannot run the sources: 24 or newer is needed`)

const steps: readonly (() => number)[] = [
  () => runTool('biome', ['ci', '.']),
  () => runTool('tsc', ['--noEmit']),
  () => runTool('tsc', ['-p', 'tsconfig.browser.json']),
  () => runNode('scripts/docs.ts', ['--check']),
  () => runNode('scripts/contracts.ts', ['--check']),
  () => runNode('scripts/buildEvm.ts', ['--check']),
  () => runTool('tsc', ['-p', 'web/tsconfig.json']),
  () => runNode('scripts/page.ts', ['--check']),
  () => runNode('scripts/english.ts', []),
]
process.exitCode = steps.map((step) => step()).find((status) => status !== 0) ?? 0

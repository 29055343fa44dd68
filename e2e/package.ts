// npm run test:package: builds and packs, installs the tarball in a copy of the example project, and runs its tests and the demo from there.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, runNode } from '../scripts/process.ts'
import { recordedProofs } from '../test/harness/proofs/recorded.ts'
import { runDemo } from './demo.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-package-'))
const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/** Copies the example project, with Basalt from the tarball. */
function copyExample(tarball: string): void {
  cpSync(join(root, 'examples/vitest'), folder, { recursive: true, filter: (path) => !path.includes('node_modules') })
  const file = join(folder, 'package.json')
  const json = JSON.parse(readFileSync(file, 'utf8')) as { devDependencies: Record<string, string> }
  json.devDependencies['basalt'] = `file:${tarball}`
  writeFileSync(file, JSON.stringify(json))
}

type TestReport = { readonly numPassedTests: number; readonly numTotalTests: number; readonly success: boolean }

/** Runs the tests of the example's `npm test` on this Node. */
function exampleTests(): TestReport {
  const report = join(folder, 'report.json')
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`, '--reporter=default']
  execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, CI: '1' } })
  return JSON.parse(readFileSync(report, 'utf8')) as TestReport
}

/** Checks the example against the package's types of `basalt/devnet`. */
function exampleTypes(): void {
  const options = [
    '--noEmit',
    '--skipLibCheck',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,esnext.disposable,dom',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, ...options, 'counter.test.ts', 'reorg.test.ts'], { cwd: folder, stdio: 'inherit' })
}

/** Imports `basalt/proof` without the modules and globals of Node, as a browser does, and prints the verdicts on a proof and on a damaged one. */
const browserScript = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(name, context, next) {
      const found = next(name, context)
      if (found.url.startsWith('node:')) throw new Error('basalt/proof imports ' + name)
      return found
    },
  })
  const { log } = console
  const [stateRoot, proof] = JSON.parse(process.argv[1])
  for (const name of ['process', 'Buffer', 'require', 'module', 'global', 'setImmediate']) delete globalThis[name]
  const { verifyProof } = await import('basalt/proof')
  const damaged = { ...proof, accountProof: proof.accountProof.toReversed() }
  log(JSON.stringify([proof, damaged].map((one) => verifyProof(one, { stateRoot }).kind)))
`

/** Checks `basalt/proof`, its types, and the installed command with a proof on its standard input. */
function proofs(): void {
  const [recorded] = recordedProofs()
  if (recorded === undefined) throw new Error('no recorded proof')
  const { stateRoot, proof } = recorded
  const args = ['--input-type=module', '--eval', browserScript, JSON.stringify([stateRoot, proof])]
  const verdicts = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trim()
  if (verdicts !== '["valid","invalid"]') throw new Error(`basalt/proof: the verdicts are ${verdicts}`)

  const typed =
    "import { type ProofVerdict, verifyProof } from 'basalt/proof'\nexport const verdict: ProofVerdict = verifyProof({}, { stateRoot: '0x' })\n"
  writeFileSync(join(folder, 'proof.ts'), typed)
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', '']
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'proof.ts'], { cwd: folder, stdio: 'inherit' })

  const command = ['node_modules/basalt/bin/basalt.js', 'proof', 'verify', '--proof', '-', '--state-root', stateRoot]
  const { status, stdout } = spawnSync(process.execPath, command, {
    cwd: folder,
    input: JSON.stringify({ jsonrpc: '2.0', id: 1, result: proof }),
  })
  if (status !== 0 || !stdout.toString().includes(`state root ${stateRoot}`))
    throw new Error(`basalt proof verify ends with ${status}: ${stdout}`)
}

try {
  if (runNode('scripts/build.ts', []) !== 0) throw new Error('the build fails')
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root)) as [
    { filename: string; size: number; entryCount: number },
  ]
  copyExample(join(folder, packed.filename))
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund'], folder)
  exampleTypes()
  proofs()
  const { blocks } = await runDemo(process.execPath, 'node_modules/basalt/bin/basalt.js', folder)
  const tests = exampleTests()
  if (!tests.success) throw new Error('the tests of the example fail')
  console.log(
    `${packed.filename}: ${packed.entryCount} files, ${Math.round(packed.size / 1024)} KB; installed, it derives ${blocks} blocks, all equal; ` +
      `example: ${tests.numPassedTests} of ${tests.numTotalTests} tests pass`,
  )
} finally {
  rmSync(folder, { recursive: true })
}

// Compiles the WebAssembly modules from their AssemblyScript sources in src: `npm run build:evm`. With `--check` nothing is written, and the
// exit code is 1 when a module differs from the output of its sources.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryBase, staticBase } from '../src/evm/assembly/layout.ts'
import { root } from './process.ts'

type Target = { readonly source: string; readonly output: string; readonly flags: readonly string[] }

const features = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--enable', 'bulk-memory']
const interpreter = ['--memoryBase', String(staticBase), '--initialMemory', String(memoryBase / 65_536), '--maximumMemory', '65536']
const targets: readonly Target[] = [
  { source: 'src/evm/assembly/index.ts', output: 'src/evm/wasm/evm.wasm', flags: interpreter },
  { source: 'src/evm/assembly/index.ts', output: 'src/evm/wasm/evmTraced.wasm', flags: [...interpreter, '--use', 'TRACED=1'] },
  { source: 'src/evm/assembly/precompiles/index.ts', output: 'src/evm/precompiles/precompiles.wasm', flags: [] },
  { source: 'src/trie/assembly/index.ts', output: 'src/trie/tries.wasm', flags: ['--path', 'src'] },
  {
    source: 'src/snapshot/load/assembly/index.ts',
    output: 'src/snapshot/load/state.wasm',
    flags: ['--path', 'src', '--initialMemory', '32', '--maximumMemory', '32'],
  },
  { source: 'src/evm/assembly/keccakModule.ts', output: 'src/lib/keccak.wasm', flags: ['--initialMemory', '2', '--maximumMemory', '2'] },
]

/** @returns whether the compilation succeeded */
function compile({ source, flags }: Target, output: string): Promise<boolean> {
  const asc = join(root, 'node_modules/assemblyscript/bin/asc.js')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [asc, source, '-o', output, ...features, ...flags], { cwd: root, stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })
}

async function check(target: Target): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-evm-'))
  try {
    const fresh = join(folder, 'fresh.wasm')
    if (!(await compile(target, fresh))) return false
    if (readFileSync(fresh).equals(readFileSync(join(root, target.output)))) return true
    console.error(`${target.output} differs from the output of its sources: npm run build:evm`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
const done = await Promise.all(targets.map((target) => (values.check ? check(target) : compile(target, join(root, target.output)))))
process.exitCode = done.every(Boolean) ? 0 : 1

// npm run test:package: builds and packs, installs the tarball in an empty folder, and runs the demo from there.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, runNode } from '../scripts/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-package-'))
const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/** Runs the installed program on this Node until it has told its result, then interrupts it. */
function demo(): Promise<{ text: string; code: number | null }> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['node_modules/basalt/bin/basalt.js', 'demo', '--json', '--http.port', '0', '--rollup.port', '0'],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) child.kill('SIGINT')
    })
    child.on('close', (code) => resolve({ text, code }))
  })
}

if (runNode('scripts/build.ts', []) !== 0) throw new Error('the build fails')
const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root)) as [
  { filename: string; size: number; entryCount: number },
]
npm(['init', '--yes'], folder)
npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, packed.filename)], folder)
const { text, code } = await demo()
const { blocks, equal } = JSON.parse(text) as { blocks: number; equal: boolean }
rmSync(folder, { recursive: true })
if (!equal || code !== 0) throw new Error(`the installed demo says ${text}, exit code ${code}`)
console.log(
  `${packed.filename}: ${packed.entryCount} files, ${Math.round(packed.size / 1024)} KB; installed, it derives ${blocks} blocks, all equal`,
)

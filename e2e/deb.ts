// npm run test:deb: makes the Debian package, unpacks it, and runs the program in it: its version, and a recorded chain. Needs dpkg-deb.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, runNode } from '../scripts/process.ts'
import { runDemo } from './demo.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-deb-'))
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 })
function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what)
}

try {
  must(spawnSync('dpkg-deb', ['--version']).error === undefined, 'dpkg-deb is not installed (Debian package dpkg)')
  must(runNode('scripts/packageDeb.ts', ['--out', folder]) === 0, 'the package cannot be made')
  const [file = ''] = run('sh', '-c', 'ls *.deb').trim().split('\n')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  must(run('dpkg-deb', '--field', file, 'Package', 'Version').includes(`Version: ${version}`), 'the control file has another version')
  const owners = run('dpkg-deb', '--contents', file).trim().split('\n')
  must(
    owners.every((line) => line.split(/\s+/)[1] === 'root/root'),
    'a file has another owner than root',
  )
  run('dpkg-deb', '--extract', file, 'root')
  run('dpkg-deb', '--control', file, 'control')
  const at = (path: string): string => join(folder, 'root', path)
  const settings = readFileSync(join(folder, 'control/conffiles'), 'utf8').trim().split('\n')
  must(settings.length === 4 && settings.every((path) => existsSync(at(path))), `settings: ${settings.join(', ')}`)
  must((statSync(at('etc/basalt/basalt.env')).mode & 0o777) === 0o640, 'other users can read basalt.env')
  const unit = readFileSync(at('usr/lib/systemd/system/basalt@.service'), 'utf8')
  for (const path of [/ExecStart=(\S+)/, /Documentation=file:\/\/(\S+)/].map((pattern) => pattern.exec(unit)?.[1] ?? '')) {
    must(path !== '' && existsSync(at(path)), `the unit names ${path}, which is not in the package`)
  }
  const basalt = (...args: readonly string[]): string => run(at('usr/lib/basalt/node'), at('usr/lib/basalt/bin/basalt.js'), ...args)
  must(basalt('version').includes(version), 'the program has another version')
  must(basalt('explain', 'BasaltDown').includes('## Verify'), 'the runbooks are missing')
  const { blocks } = await runDemo(at('usr/lib/basalt/node'), at('usr/lib/basalt/bin/basalt.js'), folder)
  console.log(
    `${file}: ${Math.round(statSync(join(folder, file)).size / 1e6)} MB, ${owners.length} entries; unpacked, it derives ${blocks} blocks, all equal`,
  )
} finally {
  rmSync(folder, { recursive: true })
}

// npm run package:deb -- [--out DIR]: a Debian package of the node with its own Node, systemd units and settings. Needs dpkg-deb.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packTarball } from './packTarball.ts'
import { root } from './process.ts'

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const units = join(root, 'deploy/systemd')
const control = join(root, 'deploy/deb')

/** Starts the program on the Node of the package. */
const command = '#!/bin/sh\nexec /usr/lib/basalt/node /usr/lib/basalt/bin/basalt.js "$@"\n'

/** Installs the packed package and its dependencies of the lock file, without devnets' L1. No install script runs. */
function installProgram(tarball: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder])
  for (const file of ['package-lock.json', '.npmrc']) cpSync(join(root, file), join(folder, file))
  mkdirSync(join(folder, 'toolchain'))
  cpSync(join(root, 'toolchain/package.json'), join(folder, 'toolchain/package.json'))
  const flags = ['--omit=dev', '--ignore-scripts', '--workspaces=false', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['ci', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const unused = [
    'toolchain',
    '.npmrc',
    'package-lock.json',
    'node_modules/@basalt',
    'node_modules/@foundry-rs',
    'node_modules/.package-lock.json',
  ]
  for (const path of unused) rmSync(join(folder, path), { recursive: true, force: true })
  cpSync(process.execPath, join(folder, 'node'))
  chmodSync(join(folder, 'node'), 0o755)
}

/** Writes a file of the package. */
function write(stage: string, path: string, content: string, mode = 0o644): void {
  const file = join(stage, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, content)
  chmodSync(file, mode)
}

function installSettings(stage: string): void {
  const settings = { 'basalt.env': join(root, '.env.mainnet') } as Record<string, string>
  for (const file of readdirSync(units).filter((name) => name.endsWith('.env'))) settings[file] = join(units, file)
  for (const [name, from] of Object.entries(settings))
    write(stage, `etc/basalt/${name}`, readFileSync(from, 'utf8'), name === 'basalt.env' ? 0o640 : 0o644)
  write(
    stage,
    'DEBIAN/conffiles',
    Object.keys(settings)
      .map((name) => `/etc/basalt/${name}\n`)
      .join(''),
  )
  write(stage, 'usr/lib/systemd/system/basalt@.service', readFileSync(join(units, 'basalt@.service'), 'utf8'))
}

function installDocs(stage: string): void {
  const pages = ['operators', 'ports', 'security', 'backup', 'upgrade', 'migrate', 'p2p', 'proofs', 'snapshots'].map((name) => `${name}.md`)
  for (const name of [...pages, 'runbooks', 'reference']) {
    cpSync(join(root, 'docs', name), join(stage, 'usr/share/doc/basalt', name), { recursive: true })
  }
  const node = readFileSync(join(process.execPath, '../../LICENSE'), 'utf8')
  const text = `${readFileSync(join(root, 'LICENSE'), 'utf8')}\nEach package in /usr/lib/basalt/node_modules has its own licence there. /usr/lib/basalt/node:\n\n${node}`
  write(stage, 'usr/share/doc/basalt/copyright', text)
}

/** Writes the package. @returns its path */
function packageDeb(out: string): string {
  const architecture = architectures[process.arch]
  if (process.platform !== 'linux' || architecture === undefined) throw new Error('a Debian package is made on Linux, x64 or arm64')
  const stage = mkdtempSync(join(tmpdir(), 'basalt-deb-'))
  try {
    chmodSync(stage, 0o755)
    mkdirSync(out, { recursive: true })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    installProgram(packTarball(stage), join(stage, 'usr/lib/basalt'))
    for (const file of readdirSync(stage).filter((name) => name.endsWith('.tgz'))) rmSync(join(stage, file))
    write(stage, 'usr/bin/basalt', command, 0o755)
    for (const [shell, path] of [
      ['bash', 'usr/share/bash-completion/completions/basalt'],
      ['zsh', 'usr/share/zsh/vendor-completions/_basalt'],
      ['fish', 'usr/share/fish/vendor_completions.d/basalt.fish'],
    ] as const) {
      write(stage, path, execFileSync(process.execPath, [join(root, 'bin/basalt.js'), 'completion', shell], { encoding: 'utf8' }))
    }
    installSettings(stage)
    installDocs(stage)
    const kib = execFileSync('du', ['-sk', '--exclude=DEBIAN', stage], { encoding: 'utf8' }).split('\t')[0] ?? ''
    const fields: Readonly<Record<string, string>> = { VERSION: version, ARCH: architecture, KIB: kib }
    const text = readFileSync(join(control, 'control'), 'utf8').replace(/@(\w+)@/g, (_, name: string) => fields[name] ?? '')
    write(stage, 'DEBIAN/control', text)
    for (const script of ['postinst', 'prerm', 'postrm'])
      write(stage, `DEBIAN/${script}`, readFileSync(join(control, script), 'utf8'), 0o755)
    const file = join(out, `basalt_${version}_${architecture}.deb`)
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z3', '--build', stage, file], { stdio: ['ignore', 'ignore', 'inherit'] })
    return file
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'release') } } })
console.log(packageDeb(resolve(values.out)))

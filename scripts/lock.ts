// Completes package-lock.json after a change of dependencies. `npm ci` needs an entry for every optional platform package; `npm install` omits those
// that its registry lacks. Entries without integrity get it from the registry; entries that it lacks are listed.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRegistryPackage, knownWithoutIntegrity, type Lock, type LockEntry, nameAt, withoutIntegrity } from './lockEntries.ts'
import { root } from './process.ts'

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock

/** `…-darwin-arm64`, `…-linux-x64-gnu`: platform in the name of a package. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu'> {
  const [, os = '', cpu = ''] = /-(darwin|linux|win32|freebsd|android)-(x64|amd64|arm64|arm|ia32)/.exec(name) ?? []
  if (os === '') throw new Error(`${name} is not a platform package`)
  return { cpu: [cpu === 'amd64' ? 'x64' : cpu], os: [os] }
}

/** undefined when the registry lacks the package. */
function integrityOf(name: string, version: string): string | undefined {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { cwd: root, encoding: 'utf8' })
  const integrity = stdout.trim()
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? integrity : undefined
}

const added: string[] = []
for (const { optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`
    if (lock.packages[key] !== undefined) continue
    lock.packages[key] = { version, ...platformOf(name), optional: true }
    added.push(`${name}@${version}`)
  }
}
for (const entry of Object.entries(lock.packages)) {
  const [path, { version, integrity: known, ...rest }] = entry
  if (!isRegistryPackage(entry) || version === undefined || known !== undefined) continue
  const integrity = integrityOf(nameAt(path), version)
  if (integrity !== undefined) lock.packages[path] = { version, integrity, ...rest }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'no entry is missing' : `added ${added.join(', ')}`)
const lacking = withoutIntegrity(lock)
if (lacking.length > 0) console.log(`without integrity, the registry lacks them: ${lacking.join(', ')}`)
if (lacking.join() !== knownWithoutIntegrity.join()) {
  console.error('these differ from the list in scripts/lockEntries.ts')
  process.exitCode = 1
}

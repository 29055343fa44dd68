// Completes package-lock.json after a change of dependencies: `npm ci` wants an entry for every optional platform package, `npm install` leaves
// out those that its registry lacks. No integrity: they are for other platforms than the one that writes the lock.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './process.ts'

type Entry = { version?: string; optionalDependencies?: Record<string, string>; os?: string[]; cpu?: string[]; optional?: boolean }
type Lock = { packages: Record<string, Entry> }

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock

/** `…-darwin-arm64`, `…-linux-x64-gnu`: what the name of a platform package says. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu'> {
  const [, os = '', cpu = ''] = /-(darwin|linux|win32|freebsd|android)-(x64|amd64|arm64|arm|ia32)/.exec(name) ?? []
  if (os === '') throw new Error(`${name} is no platform package`)
  return { cpu: [cpu === 'amd64' ? 'x64' : cpu], os: [os] }
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
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'nothing is missing' : `added ${added.join(', ')}`)

// The command `basalt` of the pages: with the devnet in place of a public chain. A server runs on in the background; the command ends when it serves.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type DocsValues, realArguments } from './values.ts'

const root = resolve(import.meta.dirname, '../..')
const values = JSON.parse(process.env['DOCS_VALUES'] ?? '') as DocsValues
/** directory with a file for each server, whose name is its process id */
const servers = process.env['DOCS_SERVERS'] ?? ''
const { BASALT_NETWORK: network, ...env } = process.env
const given = process.argv.slice(2)
const [command = '', sub = '-'] = given
const takesNetwork = ['node', 'doctor'].includes(command) || (command === 'config' && sub === 'check')
const args = realArguments(given, values, network !== undefined && takesNetwork)

const isAlone = command === 'devnet' && sub.startsWith('-')
const isServer = command === 'node' || isAlone || (command === 'snapshot' && sub === 'serve')
const isServing = /node started|"event":"started"|^Ctrl-C|\/manifest\.json|serving|http:\/\/127\.0\.0\.1:8590/m
const timeoutMs = 180_000

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Ends the servers of earlier commands. */
async function endServers(): Promise<void> {
  for (const name of readdirSync(servers).filter((file) => /^\d+$/.test(file))) {
    const pid = Number(name)
    if (isRunning(pid)) process.kill(pid, 'SIGTERM')
    while (isRunning(pid)) await delay(50)
    rmSync(join(servers, name))
  }
}

if (given.join(' ') === '--end-servers') {
  await endServers()
} else if (isServer) {
  // a consensus half and a server of snapshots belong to a node that runs already
  if (!args.includes('consensus') && command !== 'snapshot') await endServers()
  const log = join(servers, `${Date.now()}.log`)
  const file = openSync(log, 'w')
  const child = spawn(process.execPath, [join(root, 'bin/basalt.js'), ...args], { detached: true, env, stdio: ['ignore', file, file] })
  closeSync(file)
  child.unref()
  writeFileSync(join(servers, String(child.pid)), '')
  const untilMs = performance.now() + timeoutMs
  while (!isServing.test(readFileSync(log, 'utf8')) && child.exitCode === null && performance.now() < untilMs) await delay(50)
  const output = readFileSync(log, 'utf8')
  process.stdout.write(output)
  process.exitCode = child.exitCode === null && isServing.test(output) ? 0 : 1
} else {
  process.exitCode = spawnSync(process.execPath, [join(root, 'bin/basalt.js'), ...args], { env, stdio: 'inherit' }).status ?? 1
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
/** Parent folder of the demo's data directory, used by this test only. */
const folder = mkdtempSync(join(tmpdir(), 'basalt-signals-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Node of the machine. When it is too old for the sources, the launcher starts a child process. */
const ownNode = ['/usr/bin/node', '/usr/local/bin/node'].find(existsSync) ?? process.execPath

const signals: readonly (readonly [string, NodeJS.Signals, 'group' | 'launcher'])[] = [
  ['Ctrl-C in a terminal', 'SIGINT', 'group'],
  ['SIGTERM to the launcher alone', 'SIGTERM', 'launcher'],
  ['SIGTERM to the process group', 'SIGTERM', 'group'],
  ['SIGINT to the launcher alone', 'SIGINT', 'launcher'],
]

it.each(signals)(
  'bin: stops the demo cleanly on %s and leaves no process or file',
  async (_what, signal, to) => {
    const child = spawn(ownNode, ['bin/basalt.js', 'demo', '--json', '--http.port', '0', '--rollup.port', '0'], {
      cwd: root,
      env: { ...process.env, TMPDIR: folder },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    process.kill(to === 'group' ? -(child.pid ?? 0) : (child.pid ?? 0), signal)
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(readdirSync(folder)).toEqual([])
  },
  60_000,
)

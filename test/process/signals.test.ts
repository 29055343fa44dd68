import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
/** Where the demo may put its data directory, and nobody else does. */
const folder = mkdtempSync(join(tmpdir(), 'basalt-signals-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The machine's own Node, which may be older than the sources need: then the launcher starts a child. */
const ownNode = ['/usr/bin/node', '/usr/local/bin/node'].find(existsSync) ?? process.execPath

it.each<[string, NodeJS.Signals, 'group' | 'launcher']>([
  ['Ctrl-C in a terminal', 'SIGINT', 'group'],
  ['SIGTERM to the process group', 'SIGTERM', 'group'],
  ['SIGINT to the launcher alone', 'SIGINT', 'launcher'],
  ['SIGTERM to the launcher alone', 'SIGTERM', 'launcher'],
])(
  'bin: %s stops the demo cleanly and leaves nothing behind',
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

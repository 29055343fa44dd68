import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const run = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0

export type Mount = { readonly dir: string } & Disposable

function mounted(dir: string, ...args: string[]): Mount | undefined {
  mkdirSync(dir, { recursive: true })
  if (!run('mount', ...args, dir)) return undefined
  return {
    dir,
    [Symbol.dispose](): void {
      // a process that has just been killed may still hold files
      if (!run('umount', dir)) run('umount', '-l', dir)
    },
  }
}

/** Mounts a file system in memory with a size such as `64m`. @returns undefined when this user may not mount */
export const mountMemory = (dir: string, size: string): Mount | undefined => mounted(dir, '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs')

/** Shows a directory read-only at another place. @returns undefined when this user may not mount */
export function mountReadOnly(from: string, dir: string): Mount | undefined {
  const mount = mounted(dir, '--bind', from)
  if (mount === undefined || run('mount', '-o', 'remount,bind,ro', dir)) return mount
  mount[Symbol.dispose]()
  return undefined
}

/** Why tests on file systems of their own are skipped; undefined: this user may mount. */
export function mountsRefused(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-mount-'))
  try {
    using mount = mountMemory(dir, '1m')
    return mount ? undefined : 'this user may not mount file systems'
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'

/** Name of a temporary folder: `basalt-devnet-PID-xxxxxx` */
const pattern = /^basalt-devnet-(\d{1,10})-\w{6}$/
/** Time without a write after which a folder is unused. Its process may run in another container, where its process id is not visible. */
const silentMs = 600_000

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process belongs to another user
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}

/** Returns the time of the last write in a folder, in milliseconds since 1970. */
function touchedMs(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Math.max(statSync(folder).mtimeMs, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs))
}

/** Removes temporary folders of devnets that were killed. Folders that cannot be removed are skipped. */
export function sweepScratch(parent: string, clock: Pick<Clock, 'nowMs'>): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = pattern.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    const folder = join(parent, name)
    try {
      if (clock.nowMs() - touchedMs(folder) > silentMs) rmSync(folder, { recursive: true, force: true })
    } catch {
      // another start removes it at the same time, or it belongs to another user
    }
  }
}

export const makeScratch = (parent: string): string => mkdtempSync(join(parent, `basalt-devnet-${process.pid}-`))

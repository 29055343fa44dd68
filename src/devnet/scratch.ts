import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'

/** `basalt-devnet-PID-xxxxxx` */
const pattern = /^basalt-devnet-(\d{1,10})-\w{6}$/
/** A process elsewhere may have a number that is free here (a container with the same folder): who writes nothing for so long is gone. */
const silentMs = 600_000

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is somebody else's
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}

/** When anything in it was last written, in milliseconds since 1970. */
function touchedMs(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Math.max(statSync(folder).mtimeMs, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs))
}

/** Removes what devnets left here that were killed. What cannot be removed stays. */
export function sweepScratch(parent: string, clock: Pick<Clock, 'nowMs'>): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = pattern.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    const folder = join(parent, name)
    try {
      if (clock.nowMs() - touchedMs(folder) > silentMs) rmSync(folder, { recursive: true, force: true })
    } catch {
      // another start removes it at the same time, or it belongs to somebody else
    }
  }
}

/** A folder for a devnet that is not kept. */
export const makeScratch = (parent: string): string => mkdtempSync(join(parent, `basalt-devnet-${process.pid}-`))

import { rmSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the directory of the copy that a compaction makes. */
export const copyDirIn = (dir: string): string => join(dir, 'compact')

/** Removes the copy of a compaction that was killed. The caller holds the directory's lock. */
export function removeCopy(dir: string): void {
  rmSync(copyDirIn(dir), { recursive: true, force: true })
}

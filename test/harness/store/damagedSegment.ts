import { readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { isFault } from '#lib/fault'

/** Damages of a whole file. */
export const fileDamages: readonly (readonly [name: string, damage: (path: string) => void])[] = [
  ['truncated', (path) => truncateSync(path, 2_000)],
  ['empty', (path) => truncateSync(path, 0)],
  ['missing', (path) => unlinkSync(path)],
]

/**
 * Flips a bit of each byte of a segment file in turn, and reads it.
 * @param read reads and compares all rows; throws SEGMENT_DAMAGED with the path, or returns normally if they are right
 * @returns number of bytes without a fault
 */
export function unnoticedFlips(path: string, read: () => void): number {
  const sound = readFileSync(path)
  let unnoticed = 0
  for (let at = 0; at < sound.length; at++) {
    const damaged = Uint8Array.from(sound)
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
    writeFileSync(path, damaged)
    try {
      read()
      unnoticed++
    } catch (error) {
      if (!isFault(error, 'SEGMENT_DAMAGED') || !error.message.includes(path)) throw error
    }
  }
  return unnoticed
}

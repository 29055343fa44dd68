import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Log } from '../log.ts'

/** Reads known peers. Their file is a cache: a damaged one is ignored. @param parse throws on other content @returns undefined: there are none */
export function readPeersFile<T>(file: string, log: Log, parse: (json: unknown) => T): T | undefined {
  try {
    return parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn('known peers not read, starting without', { file, error })
    return undefined
  }
}

/** Writes known peers: a new file, renamed over the old one. @returns whether it was written */
export function writePeersFile(file: string, log: Log, peers: readonly unknown[]): boolean {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(peers), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return true
  } catch (error) {
    log.warn('known peers not written', { file, error })
    return false
  }
}

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Log } from '#lib/log'
import { enodeOf, type NodeAddress, parseNode } from './nodeId.ts'

const maxNodes = 256
const fileSchema = z.array(z.string().max(512))

/** Reads the nodes that were peers before. The file is a cache: a damaged one is ignored. */
export function readKnownNodes(file: string, log: Log): readonly NodeAddress[] {
  try {
    return fileSchema
      .parse(JSON.parse(readFileSync(file, 'utf8')))
      .slice(0, maxNodes)
      .map(parseNode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn('known execution peers not read, starting without', { file, error })
    return []
  }
}

/** Writes the nodes that were peers: a new file, renamed over the old one. */
export function writeKnownNodes(file: string, nodes: readonly NodeAddress[], log: Log): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(nodes.slice(0, maxNodes).map(enodeOf)), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    log.warn('known execution peers not written', { file, error })
  }
}

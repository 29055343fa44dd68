import { z } from 'zod'
import type { Log } from '#lib/log'
import { readPeersFile, writePeersFile } from '#lib/peers/peersFile'
import { enodeOf, type NodeAddress, parseNode } from './nodeId.ts'

const maxNodes = 256
const fileSchema = z.array(z.string().max(512))

/** Reads the nodes that were peers before. */
export const readKnownNodes = (file: string, log: Log): readonly NodeAddress[] =>
  readPeersFile(file, log, (json) => fileSchema.parse(json).slice(0, maxNodes).map(parseNode)) ?? []

/** Writes the nodes that were peers, as enode URLs. */
export function writeKnownNodes(file: string, nodes: readonly NodeAddress[], log: Log): void {
  writePeersFile(file, log, nodes.slice(0, maxNodes).map(enodeOf))
}

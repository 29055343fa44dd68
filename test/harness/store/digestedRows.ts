import { latin1 } from '#lib/bytes'
import { countNodes } from '#state/nodeRow'
import type { KvReader } from '#store/ports'
import { proofsTables, type TableSpec, tables } from '#store/tables'

/*
 * Digests of rows and nodes have another key in each database. What is left of their rows without the digests can be compared.
 */
const deletionKind = 0x60
const digestsRow = Buffer.from('state.digests')

/** Returns the marks of deleted rows in an index. */
export const deletionsIn = (reader: KvReader, { id }: TableSpec): string[] =>
  Array.from(reader.keys(id, { from: Uint8Array.of(deletionKind) }), latin1)

/** Returns for each run of an index the blocks of its entries. */
export function runsIn(reader: KvReader, { id }: TableSpec): string[] {
  // the nodes' entries have a byte more
  const entryBytes = id === proofsTables.nodeIndex.id ? 7 : 6
  const runs = new Map<string, number[]>()
  for (const { key, value } of reader.range(id, { to: Uint8Array.of(deletionKind) })) {
    // level and first block, without the slice
    const run = latin1(key.subarray(0, 9))
    const blocks = runs.get(run) ?? []
    for (let at = 4; at < value.length; at += entryBytes) blocks.push((value[at] as number) * 256 + (value[at + 1] as number))
    runs.set(run, blocks)
  }
  return Array.from(runs, ([run, blocks]) => `${run}: ${blocks.sort((a, b) => a - b).join()}`)
}

/** Returns the number of changed trie nodes of each block. @param to end of the keys */
export function nodeCounts(reader: KvReader, to?: Uint8Array): string[] {
  const rows = reader.range(proofsTables.nodeHistory.id, to ? { to } : {})
  return Array.from(rows, ({ key, value }) => `${latin1(key)}: ${countNodes(value)}`)
}

/** Returns the rows of `meta` but that of the keys. */
export function metaRows(reader: KvReader): string[] {
  const rows = [...reader.range(tables.meta.id, {})].filter(({ key }) => !digestsRow.equals(key))
  return rows.map(({ key, value }) => `${latin1(key)}: ${latin1(value)}`)
}

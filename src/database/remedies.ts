import type { Difference } from '#store/rowCheck'

const restore = 'check the disk and the memory; then start with an empty data directory, or with a copy of one that verifies'
/** Tables that only answer requests: execution does not read them. */
const servedOnly: readonly string[] = ['bodies', 'receipts', 'txByHash', 'blockByHash', 'logIndex']

const copyFile =
  'new blocks are not affected, responses about blocks of this file fail; check the disk, then stop the node and copy the file of this name from a backup or another node'

/** Returns what the operator should do about a difference. */
export function remedyOf({ table }: Difference): string {
  if (table === 'segments') return copyFile
  if (!servedOnly.includes(table)) return `stop this node: its blocks may be wrong from here on; ${restore}`
  return `new blocks are not affected, responses about this block are wrong; ${restore}`
}

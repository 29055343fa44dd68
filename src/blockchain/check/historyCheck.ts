import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { oldestProof } from '#state/chainState'
import { checkUndo } from '#state/historyCheck'
import type { KvReader } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { tables } from '#store/tables'
import { decodeHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { blockKey } from '../chainRows.ts'
import { readCanonicalHash } from '../chainStore.ts'

/**
 * Checks the history of states for as long as the watch has time, from a block down to the oldest state with trie nodes: undoing each block leads to the state root of its
 * parent. A block without sound headers is left out, because the check of blocks reports it.
 * @returns the next block; undefined at the end
 */
export function checkHistory(reader: KvReader, from: number, watch: CheckWatch): number | undefined {
  const oldest = oldestProof(reader)
  for (let number = from; number > oldest; number--) {
    if (number < from && !watch.hasTime()) return number
    watch.onRow()
    const [root, parentRoot] = [stateRootAt(reader, number), stateRootAt(reader, number - 1)]
    if (root !== undefined && parentRoot !== undefined) checkUndo(reader, number, { root, parentRoot }, watch.report)
  }
  return undefined
}

/** Returns the state root in the header of a canonical block; undefined without a header that has the block's hash. */
function stateRootAt(reader: KvReader, number: number): Hash | undefined {
  const hash = readCanonicalHash(reader, number)
  const row = hash && reader.get(tables.headers.id, blockKey({ number, hash }))
  return row && toHex(keccak256(row)) === hash ? decodeHeader(row).stateRoot : undefined
}

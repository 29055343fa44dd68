import { readGenesisId, readHead } from '#blockchain/chainStore'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { isPartialState } from '#state/partialState'
import type { KvReader, KvWriter } from '#store/ports'
import { proofsTables, tables } from '#store/tables'
import { type Hash, hashFromBytes } from '#types/ids'
import { proofsFault } from './faults.ts'
import { readRegions } from './regions.ts'

const genesisKey = new TextEncoder().encode('proofs.genesis')
/** Blocks that a power loss or a reorg may take from the chain: without a fault they are removed from the proofs too. */
const maxAhead = 128

/** Checks that the proofs are of this chain, or of none. @param dir as the fault names it @throws Fault PROOFS_OTHER_CHAIN */
export function requireSameChain(proofs: KvReader, chain: KvReader, dir: string): void {
  const [found, expected] = [markedGenesis(proofs), readGenesisId(chain)?.hash]
  if (found !== undefined && expected !== undefined && found !== expected) throw proofsFault('PROOFS_OTHER_CHAIN', { dir, found, expected })
}

/**
 * Checks that the chain has the last recorded block, but for a few after its head. A partial state may begin after it: a node takes a newer first block by
 * itself when the old one is lost.
 * @param dir as the fault names it
 * @throws Fault PROOFS_AHEAD, PROOFS_BELOW
 */
export function requireLastBlock(proofs: KvReader, chain: KvReader, dir: string): void {
  const [last, head] = [readRegions(proofs).at(-1)?.last, readHead(chain)?.number]
  if (last === undefined || head === undefined) return
  if (last > head + maxAhead) throw proofsFault('PROOFS_AHEAD', { dir, last, head })
  const [first = last] = Array.from(chain.keys(tables.canonical.id, { from: u64Bytes(last), limit: 1 }), u64FromBytes)
  if (first > last && !isPartialState(chain)) throw proofsFault('PROOFS_BELOW', { dir, last, first })
}

/** Returns the hash of the genesis whose chain was recorded; undefined: nothing was. */
function markedGenesis(proofs: KvReader): Hash | undefined {
  const mark = proofs.get(proofsTables.meta.id, genesisKey)
  return mark && hashFromBytes(mark)
}

export function markGenesis(tx: KvWriter, genesis: Hash): void {
  tx.put(proofsTables.meta.id, genesisKey, fromHex(genesis))
}

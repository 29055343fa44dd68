import { readGenesisId, readHead } from '#blockchain/chainStore'
import { fromHex } from '#lib/hex'
import type { KvReader, KvWriter } from '#store/ports'
import { proofsTables } from '#store/tables'
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

/** Checks that the chain has the last recorded block, but for a few. @param dir as the fault names it @throws Fault PROOFS_AHEAD */
export function requireNotAhead(proofs: KvReader, chain: KvReader, dir: string): void {
  const [last, head] = [readRegions(proofs).at(-1)?.last ?? 0, readHead(chain)?.number]
  if (head !== undefined && last > head + maxAhead) throw proofsFault('PROOFS_AHEAD', { dir, last, head })
}

/** Returns the hash of the genesis whose chain was recorded; undefined: nothing was. */
function markedGenesis(proofs: KvReader): Hash | undefined {
  const mark = proofs.get(proofsTables.meta.id, genesisKey)
  return mark && hashFromBytes(mark)
}

export function markGenesis(tx: KvWriter, genesis: Hash): void {
  tx.put(proofsTables.meta.id, genesisKey, fromHex(genesis))
}

import { readCanonicalHash } from '#blockchain/chainStore'
import { markGenesis, requireSameChain } from '#proofs/checkProofs'
import { takeDigests } from '#proofs/copiedDigests'
import { addOlder, beginRegion } from '#proofs/proofStore'
import { readRegions } from '#proofs/regions'
import { type Digests, readDigests } from '#state/digests/digests'
import { firstChanges } from '#state/pruneHistory'
import { putRestoredChanges } from '#state/restoredHistory'
import type { Kv, KvReader, SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { snapshotFault } from '../faults.ts'
import type { UndoneBlock } from './undoBlock.ts'
import type { OlderChanges } from './valueWalk.ts'

/** Writes changes as the history of the chain's values, without their index. @param base block with which the chain begins */
export function chainHistory(kv: Kv, base: BlockId): OlderChanges {
  return {
    oldest(): number {
      using reader = kv.snapshot()
      return Math.min(base.number, firstChanges(reader) - 1)
    },
    write(blocks): void {
      kv.write((tx) => {
        for (const { number, values } of blocks) putRestoredChanges(tx, number, values)
      })
    },
  }
}

/** `base`: block with which the chain begins, the last one of the proofs. `dir`: as a fault names it */
type ProofsEnds = { readonly base: BlockId; readonly genesis: BlockId; readonly dir: string }

/**
 * Writes changes as recorded proofs.
 * @param kv tables of the proofs
 * @throws Fault LOAD_INTO_PROOFS, PROOFS_OTHER_CHAIN (fatal)
 */
export function recordedProofs(kv: Kv, chain: SnapshotSource, ends: ProofsEnds): OlderChanges {
  const { base } = ends
  const digests = beginProofs(kv, chain, ends)
  const oldestIn = (reader: KvReader): number => (readRegions(reader)[0]?.first ?? base.number + 1) - 1
  return {
    digests,
    oldest(): number {
      using reader = kv.snapshot()
      return oldestIn(reader)
    },
    write(blocks): void {
      using reader = chain.snapshot()
      const idOf = (number: number): BlockId => ({ number, hash: readCanonicalHash(reader, number) ?? base.hash })
      kv.write((tx) => {
        for (const block of blocks) if (block.number <= oldestIn(tx)) addBlock(tx, block, idOf)
      })
    },
  }
}

function addBlock(tx: Parameters<typeof addOlder>[0], { number, values, nodes }: UndoneBlock, idOf: (number: number) => BlockId): void {
  const [region] = readRegions(tx)
  if (region === undefined) throw new RangeError('no region')
  addOlder(tx, region, { id: idOf(number), values, deleted: values.filter(({ isDeleted }) => isDeleted), nodes }, idOf(number - 1))
}

/** Begins the proofs with the base, unless they have been. @returns their digests */
function beginProofs(kv: Kv, chain: SnapshotSource, { base, genesis, dir }: ProofsEnds): Digests {
  using reader = chain.snapshot()
  return kv.write((tx) => {
    requireSameChain(tx, reader, dir)
    const last = readRegions(tx).at(-1)?.last
    if (last === undefined) {
      beginRegion(tx, base)
      takeDigests(tx, readDigests(reader), base.number)
    } else if (last !== base.number || readCanonicalHash(tx, last) !== base.hash) throw snapshotFault('LOAD_INTO_PROOFS', { dir })
    markGenesis(tx, genesis.hash)
    return readDigests(tx)
  })
}

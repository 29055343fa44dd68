import { join } from 'node:path'
import { readHead } from '#blockchain/chainStore'
import { isFault } from '#lib/fault'
import { requireLastBlock, requireSameChain } from '#proofs/checkProofs'
import { ofProofs, openProofs, openProofsForReading } from '#proofs/openProofs'
import type { RecordedChain } from '#proofs/verifyProofs'
import { lockDir } from '#store/lmdb/dirLock'
import type { Kv, SnapshotSource } from '#store/ports'
import { openChain } from '../openChain.ts'

/** Where the proofs of a data directory are. */
export type ProofsPlace = {
  readonly datadir: string
  /** absent: `proofs` in the data directory */
  readonly path?: string
}

export const proofsDirOf = ({ datadir, path }: ProofsPlace): string => path ?? join(datadir, 'proofs')

/** Recorded proofs and their chain, opened for reading. */
export interface ProofsReader extends AsyncDisposable {
  /** Runs a function on one snapshot of both. */
  read<T>(use: (recorded: RecordedChain) => T): T
}

/**
 * Opens both for reading; a node may use them.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER, PROOFS_MISSING, PROOFS_DAMAGED, PROOFS_OTHER_CHAIN, PROOFS_AHEAD,
 * PROOFS_BELOW
 */
export async function openForReading(place: ProofsPlace): Promise<ProofsReader> {
  const dir = proofsDirOf(place)
  await using opening = new AsyncDisposableStack()
  const chain = opening.use(await openChain(place.datadir))
  const proofs = opening.use(await openProofsForReading(dir))
  readBoth(proofs, chain, (recorded) => {
    requireSameChain(recorded.proofs, recorded.chain, dir)
    requireLastBlock(recorded.proofs, recorded.chain, dir)
  })
  const kept = opening.move()
  return {
    read<T>(use: (recorded: RecordedChain) => T): T {
      try {
        return readBoth(proofs, chain, use)
      } catch (error) {
        throw ofProofs(error, dir)
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Runs a function on a snapshot of both. The proofs first: they never have blocks that the chain does not have yet. */
export function readBoth<T>(proofs: SnapshotSource, chain: SnapshotSource, use: (recorded: RecordedChain) => T): T {
  using before = proofs.snapshot()
  using reader = chain.snapshot()
  return use({ proofs: before, chain: reader, head: readHead(reader)?.number ?? 0 })
}

/** Opens the proofs for writing; undefined: another process has them open. @throws as `openProofs` */
export const openUnlessLocked = (dir: string): Kv | undefined => unlessLocked(() => openProofs(dir))

/** Returns whether another process has the proofs open for writing. @throws Fault DATADIR_UNWRITABLE */
export function isLocked(dir: string): boolean {
  using lock = unlessLocked(() => lockDir(dir))
  return lock === undefined
}

function unlessLocked<T>(take: () => T): T | undefined {
  try {
    return take()
  } catch (error) {
    if (isFault(error, 'DATADIR_LOCKED')) return undefined
    throw error
  }
}

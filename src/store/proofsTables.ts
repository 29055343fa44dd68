import { openLmdbKv } from './lmdbKv.ts'
import { openForeignReader, openLmdbReader } from './lmdbReader.ts'
import type { Kv, SnapshotSource } from './ports.ts'
import { proofsTables } from './tables.ts'

const specs = Object.values(proofsTables)

/** Opens the tables of historical proofs for the one process and thread that writes them, as `openLmdbKv` does. */
export const openProofsKv = (dir: string): Kv => openLmdbKv(dir, specs)

/** Opens a source of snapshots of them in another thread, as `openLmdbReader` does. */
export const openProofsReader = (dir: string): SnapshotSource => openLmdbReader(dir, specs)

/** Opens a source of snapshots of them in another process, as `openForeignReader` does. */
export const openForeignProofsReader = (dir: string): SnapshotSource => openForeignReader(dir, specs)

import { setImmediate } from 'node:timers/promises'
import { verifyBlobProof, versionedHashOfBlob } from '#lib/kzg'

/** The expensive questions about blobs; `#lib/kzgThread` answers them beside the main thread. Rejects when it cannot be told. */
export interface BlobChecks {
  /** The versioned hash of a blob of 131,072 bytes, by recomputing its commitment; undefined when it is no blob. */
  hashOf(blob: Uint8Array): Promise<Uint8Array | undefined>
  /** Whether the commitment (48 bytes) is the blob's, by its proof (48 bytes). */
  verifyProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): Promise<boolean>
}

/** In this thread: two seconds the first time, then 45 or 3 ms each; others have their turn in between. */
export const checksInThisThread: BlobChecks = {
  async hashOf(blob): Promise<Uint8Array | undefined> {
    await setImmediate()
    return versionedHashOfBlob(blob)
  },
  async verifyProof(blob, commitment, proof): Promise<boolean> {
    await setImmediate()
    return verifyBlobProof(blob, commitment, proof)
  },
}

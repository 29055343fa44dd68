import { setImmediate } from 'node:timers/promises'
import { verifyBlobProof, versionedHashOfBlob } from '#lib/kzg/kzg'

/** Expensive checks of blobs. `#lib/kzg/kzgThread` runs them outside the main thread. Rejects when a check cannot run. */
export interface BlobChecks {
  /** Returns the versioned hash of a blob of 131,072 bytes, by computing its commitment; undefined when the blob is invalid. */
  hashOf(blob: Uint8Array): Promise<Uint8Array | undefined>
  /** Returns whether the proof (48 bytes) shows that the commitment (48 bytes) is the blob's. */
  verifyProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): Promise<boolean>
}

/** Checks in the calling thread: two seconds the first time, then 45 or 3 ms each. The event loop runs before each check. */
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

import { parentPort } from 'node:worker_threads'
import { ThreadLink } from '../threadLink.ts'
import { proveBlob, proveCells, setUpKzg, verifyBlobProof, versionedHashOfBlob } from './kzg.ts'
import type { KzgAnswers, ProvedBlob } from './kzgThread.ts'

function proved(blob: Uint8Array, proofs: 'blobs' | 'cells'): ProvedBlob | undefined {
  try {
    if (proofs === 'cells') return proveCells(blob)
    const { commitment, proof } = proveBlob(blob)
    return { commitment, proofs: [proof] }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const here: KzgAnswers = { hash: versionedHashOfBlob, verify: verifyBlobProof, prove: proved }
const post = (message: unknown): void => parentPort?.postMessage(message)
const link = new ThreadLink<object, KzgAnswers>({ post, here, onFailure(): void {} })
parentPort?.on('message', (message) => link.receive(message))
setUpKzg()

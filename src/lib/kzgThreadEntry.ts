import { parentPort } from 'node:worker_threads'
import { proveBlob, proveCells, setUpKzg, verifyBlobProof, versionedHashOfBlob } from './kzg.ts'
import type { KzgAnswer, KzgQuestion, ProvedBlob } from './kzgThread.ts'

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

function answerOf(question: KzgQuestion): KzgAnswer {
  const { id, kind, blob } = question
  if (kind === 'hash') return { id, kind, hash: versionedHashOfBlob(blob) }
  if (kind === 'prove') return { id, kind, proved: proved(blob, question.proofs) }
  return { id, kind, isRight: verifyBlobProof(blob, question.commitment, question.proof) }
}

parentPort?.on('message', (question: KzgQuestion) => parentPort?.postMessage(answerOf(question)))
setUpKzg()

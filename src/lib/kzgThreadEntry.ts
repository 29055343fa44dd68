import { parentPort } from 'node:worker_threads'
import { setUpKzg, verifyBlobProof, versionedHashOfBlob } from './kzg.ts'
import type { KzgAnswer, KzgQuestion } from './kzgThread.ts'

function answerOf(question: KzgQuestion): KzgAnswer {
  const { id, kind, blob } = question
  if (kind === 'hash') return { id, kind, hash: versionedHashOfBlob(blob) }
  return { id, kind, isRight: verifyBlobProof(blob, question.commitment, question.proof) }
}

parentPort?.on('message', (question: KzgQuestion) => parentPort?.postMessage(answerOf(question)))
setUpKzg()

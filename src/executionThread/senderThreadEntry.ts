// Entry of a sender thread.
import { parentPort, workerData } from 'node:worker_threads'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { recoverSenders, SenderTable } from './senderTable.ts'

const queue = new SenderQueue(workerData as SharedArrayBuffer)
parentPort?.on('message', (work: SenderWork | 'stop') => {
  if (work === 'stop') return parentPort?.close()
  recoverSenders(new SenderTable(work.table), work.transactions, () => queue.isStopped)
  queue.done(workBytes(work))
})

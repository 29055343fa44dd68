// Entry of a sender thread.
import { parentPort, workerData } from 'node:worker_threads'
import { openChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { KeyRing } from './keyRing.ts'
import { PageReader } from './pageReader.ts'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { recoverSenders, SenderTable } from './senderTable.ts'
import type { SenderThreadSettings } from './senderThreads.ts'

/** Longest wait for a key, after which the thread checks whether the block has ended: execution does not notify it. */
const waitMs = 1

const { queue: memory, pages } = workerData as SenderThreadSettings
const queue = new SenderQueue(memory)
const keys = pages && new KeyRing(pages.keys)
let source: SnapshotSource | undefined

/** Recovers the senders of a block and reads ahead for its transactions, then for its state root, until it ends or another block waits. */
function readAhead({ transactions }: SenderWork, table: SenderTable, from: KeyRing, dir: string, ownBytes: number): void {
  source ??= openChainReader(dir)
  using snapshot = source.snapshot()
  const isOver = (): boolean => table.isClosed || queue.isStopped
  const reader = new PageReader(snapshot, isOver)
  recoverSenders(table, transactions, isOver, (sender, tx) => reader.transaction(sender, tx))
  while (!isOver() && queue.bytes <= ownBytes) {
    const noted = from.take()
    if (noted) reader.nodes(noted)
    else from.wait(waitMs)
  }
}

async function stop(): Promise<void> {
  await source?.[Symbol.asyncDispose]()
  parentPort?.close()
}

parentPort?.on('message', (work: SenderWork | 'stop') => {
  if (work === 'stop') return void stop()
  const [table, bytes] = [new SenderTable(work.table), workBytes(work)]
  if (pages && keys?.isFollowed) readAhead(work, table, keys, pages.dir, bytes)
  else recoverSenders(table, work.transactions, () => queue.isStopped)
  queue.done(bytes)
})

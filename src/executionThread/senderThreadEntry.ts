// Entry of a sender thread.
import { parentPort, workerData } from 'node:worker_threads'
import { openChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { KeyRing } from './keyRing.ts'
import { PageReader } from './pageReader.ts'
import { RootServer } from './roots/rootServer.ts'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { recoverSenders, SenderTable } from './senderTable.ts'
import type { SenderThreadSettings } from './senderThreads.ts'
import { SlotRules } from './slotRules.ts'

/** Longest wait for a key, after which the thread checks whether the block has ended: execution does not notify it. */
const waitMs = 1
/** Waits in a row after which the reads of a block end: execution waits for something else, and a snapshot holds pages that later commits could use. */
const maxWaits = 250

const { queue: memory, pages, roots: rootSettings } = workerData as SenderThreadSettings
const queue = new SenderQueue(memory)
const roots = rootSettings && new RootServer(rootSettings.link, rootSettings.dir)
/** Undefined: the thread only recovers senders. So does one that cannot read the tables: execution finds the same fault where it matters. */
let ahead = pages && { dir: pages.dir, keys: new KeyRing(pages.keys) }
let source: SnapshotSource | undefined
const rules = new SlotRules()

/** Returns whether the thread must end. Execution waits for a part of a root, so it precedes senders and reads. */
function isStopped(): boolean {
  roots?.serve()
  return queue.isStopped
}

/** Recovers the senders of a block and reads ahead for its transactions, then for its state root, until it ends or another block waits. */
function readAhead({ dir, keys }: NonNullable<typeof ahead>, { transactions }: SenderWork, table: SenderTable, ownBytes: number): void {
  const isOver = (): boolean => table.isClosed || isStopped()
  if (isOver()) return
  source ??= openChainReader(dir)
  using snapshot = source.snapshot()
  const reader = new PageReader(snapshot, rules)
  rules.begin()
  recoverSenders(table, transactions, isOver, (sender, tx) => reader.transaction(sender, tx))
  for (let waits = 0; waits < maxWaits && !isOver() && queue.bytes <= ownBytes; ) {
    const noted = keys.take()
    waits = noted ? 0 : waits + 1
    if (noted === undefined) keys.wait(waitMs)
    else {
      rules.read(noted)
      reader.nodes(noted)
    }
  }
}

async function stop(): Promise<void> {
  await roots?.[Symbol.asyncDispose]()
  await source?.[Symbol.asyncDispose]()
  parentPort?.close()
}

parentPort?.on('message', (work: SenderWork | 'stop') => {
  if (work === 'stop') return void stop()
  const [table, bytes] = [new SenderTable(work.table), workBytes(work)]
  try {
    if (ahead?.keys.isFollowed) readAhead(ahead, work, table, bytes)
  } catch {
    ahead = undefined
  }
  // skips what is done
  recoverSenders(table, work.transactions, isStopped)
  queue.done(bytes)
})

// Entry of a sender thread.
import { parentPort, workerData } from 'node:worker_threads'
import { errorMessage } from '#lib/fault'
import { openChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { KeyRing } from './keyRing.ts'
import { PageReader } from './pageReader.ts'
import { RootServer } from './roots/rootServer.ts'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { recoverSenders, SenderTable } from './senderTable.ts'
import type { SenderThreadSettings, TablesFailed } from './senderThreads.ts'
import { SlotRules } from './slotRules.ts'

/** Longest wait for a key, after which the thread checks whether the block has ended: execution does not notify it. */
const waitMs = 1
/** Waits in a row after which the reads of a block end: execution waits for something else, and a snapshot holds pages that later commits could use. */
const maxWaits = 250

const { queue: memory, tables } = workerData as SenderThreadSettings
const queue = new SenderQueue(memory)
let source: SnapshotSource | undefined
/** Undefined: the thread only recovers senders. So does one that cannot read the tables: execution finds the same fault where it matters. */
let ahead = tables && { keys: new KeyRing(tables.keys), rules: new SlotRules(), open: (): SnapshotSource => sourceIn(tables.dir) }
const roots = tables && new RootServer(tables.roots, () => sourceIn(tables.dir), report)

function sourceIn(dir: string): SnapshotSource {
  source ??= openChainReader(dir)
  return source
}

function report(error: unknown): void {
  parentPort?.postMessage({ error: errorMessage(error) } satisfies TablesFailed)
}

/** Computes parts of a root first: execution waits for them. @returns whether the thread must end */
function serveRoots(): boolean {
  roots?.serve()
  return queue.isStopped
}

/** Recovers the senders of a block and reads ahead for its transactions, then for its state root, until it ends or another block waits. */
function readAhead(
  { open, keys, rules }: NonNullable<typeof ahead>,
  { transactions }: SenderWork,
  table: SenderTable,
  ownBytes: number,
): void {
  const isOver = (): boolean => serveRoots() || table.isClosed
  if (isOver()) return
  using snapshot = open().snapshot()
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
  roots?.[Symbol.dispose]()
  await source?.[Symbol.asyncDispose]()
  parentPort?.close()
}

parentPort?.on('message', (work: SenderWork | 'stop') => {
  if (work === 'stop') return void stop()
  const [table, bytes] = [new SenderTable(work.table), workBytes(work)]
  try {
    if (ahead?.keys.isFollowed) readAhead(ahead, work, table, bytes)
  } catch (error) {
    ahead = undefined
    report(error)
  }
  // skips what is done
  recoverSenders(table, work.transactions, serveRoots)
  queue.done(bytes)
})

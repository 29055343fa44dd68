// Entry of the commit thread: computes the rows of blocks and writes them, one transaction for each request.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { commitRows } from '#blockchain/commit/committer'
import { type PruneEvent, Pruner } from '#blockchain/pruning/pruner'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createPulse, Heartbeat } from '#lib/supervisor'
import { openChainWriter } from '#store/chainTables'
import type { Kv } from '#store/ports'
import {
  CommitProgress,
  type CommitThreadSettings,
  type FromCommitThread,
  type PackedCommit,
  type ToCommitThread,
  unpackCommit,
} from './wire/commitRequests.ts'

function answer(kv: Kv, request: PackedCommit): Exclude<FromCommitThread, { pruned: unknown }> {
  const startMs = systemClock.elapsedMs()
  try {
    commitRows(kv, systemClock, unpackCommit(request))
    return { ms: systemClock.elapsedMs() - startMs }
  } catch (error) {
    return { error: transferError(error) }
  }
}

const { dir, port, progress, heartbeat: settings } = workerData as CommitThreadSettings
const counters = new CommitProgress(progress)

function sendPruned(event: PruneEvent): void {
  const pruned = 'error' in event ? { error: transferError(event.error) } : event
  port.postMessage({ pruned } satisfies FromCommitThread)
}

const heartbeat = new Heartbeat(settings, systemClock)
const onRow = (): void => {
  counters.row()
  heartbeat.beat()
}
{
  using _watchdog = createPulse(heartbeat, systemClock)
  await using kv = openChainWriter(dir, onRow)
  using pruning = new DisposableStack()
  let pruner: Pruner | undefined
  port.on('message', (message: ToCommitThread) => {
    if (message.kind === 'close') return port.close()
    if (message.kind === 'prune') {
      pruner = pruning.use(new Pruner({ kv, clock: systemClock, retention: message.retention, onEvent: sendPruned }))
      return
    }
    const answered = answer(kv, message.request)
    port.postMessage(answered)
    counters.answered()
    if ('ms' in answered) pruner?.committed(answered.ms)
  })
  await once(port, 'close')
}
heartbeat.end()

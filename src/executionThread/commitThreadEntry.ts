// Entry of the commit thread: computes the rows of blocks and writes them, one transaction for each request.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { commitRows, threadSliceMs } from '#blockchain/commit/committer'
import { type PruneEvent, Pruner } from '#blockchain/pruning/pruner'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createTransferLog } from '#lib/logTransfer'
import { createThreadGuard } from '#lib/memoryGuard'
import { createPulse, Heartbeat } from '#lib/supervisor'
import { openChainWriter } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { createMover } from './moving.ts'
import {
  CommitProgress,
  type CommitThreadSettings,
  type FromCommitThread,
  type PackedCommit,
  type ToCommitThread,
  unpackCommit,
} from './wire/commitRequests.ts'

function answer(kv: Kv, request: PackedCommit): Extract<FromCommitThread, { ms: number } | { error: unknown }> {
  const startMs = systemClock.elapsedMs()
  try {
    commitRows(kv, systemClock, unpackCommit(request))
    return { ms: systemClock.elapsedMs() - startMs }
  } catch (error) {
    return { error: transferError(error) }
  }
}

const { dir, port, progress, moving, memoryMaxBytes = Number.POSITIVE_INFINITY, heartbeat: settings } = workerData as CommitThreadSettings
const counters = new CommitProgress(progress)

function sendPruned(event: PruneEvent): void {
  const pruned = 'error' in event ? { error: transferError(event.error) } : event
  send({ pruned })
}

const send = (message: FromCommitThread): void => port.postMessage(message)
const log = createTransferLog((line) => send({ log: line }), 'segments')
const heartbeat = new Heartbeat(settings, systemClock)
const onRow = (): void => {
  counters.row()
  heartbeat.beat()
}
{
  using _watchdog = createPulse(heartbeat, systemClock)
  using _memory = createThreadGuard(systemClock, memoryMaxBytes)
  await using kv = openChainWriter(dir, onRow)
  await using mover = moving && createMover(kv, { ...moving, dir, log, onStep: (moved) => send({ moved }) })
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
    if ('error' in answered) return
    // blocks may wait already: a transaction that a slow disk held up gives the other work no more time
    const ms = Math.min(answered.ms, threadSliceMs)
    pruner?.committed(ms, true)
    mover?.committed(ms)
  })
  mover?.committed()
  await once(port, 'close')
}
heartbeat.end()

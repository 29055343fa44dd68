// Entry of the commit thread: computes the rows of blocks, one transaction for each request, and has another thread write them.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { type PruneEvent, Pruner } from '#blockchain/pruning/pruner'
import type { SegmentMover } from '#blockchain/segments/segmentMover'
import { type Clock, systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createTransferLog } from '#lib/logTransfer'
import { createThreadGuard } from '#lib/memoryGuard'
import { createPulse, Heartbeat } from '#lib/supervisor'
import { openChainWriter } from '#store/chainTables'
import { CommitPipeline } from './commitPipeline.ts'
import { createMover } from './moving.ts'
import { ThreadProgress } from './waitedThread.ts'
import {
  type CommitThreadSettings,
  type FromCommitThread,
  type FromWriteThread,
  type ToCommitThread,
  unpackCommit,
  type WaitedThreadSettings,
} from './wire/commitRequests.ts'

/** Interval between the steps that remove and move rows while one request follows another: they wait for the write thread. */
const stepsEveryMs = 1_000

const settings = workerData as CommitThreadSettings & WaitedThreadSettings
const { dir, port, moving, memoryMaxBytes = Number.POSITIVE_INFINITY, heartbeats } = settings
const progress = new ThreadProgress(settings.progress)

function sendPruned(event: PruneEvent): void {
  const pruned = 'error' in event ? { error: transferError(event.error) } : event
  send({ pruned })
}

const send = (message: FromCommitThread): void => port.postMessage(message)
const log = createTransferLog((line) => send({ log: line }), 'segments')
const heartbeat = new Heartbeat(heartbeats?.rows, systemClock)
const beat = (): void => heartbeat.beat()
const onRow = (): void => {
  progress.row()
  beat()
}
{
  using _watchdog = createPulse(heartbeat, systemClock)
  using _memory = createThreadGuard(systemClock, memoryMaxBytes)
  await using kv = openChainWriter(dir, onRow)
  using pruning = new DisposableStack()
  let pruner: Pruner | undefined
  let mover: SegmentMover | undefined
  let [writtenMs, stepsMs] = [0, 0]
  function answer(outcome: FromWriteThread): void {
    send(outcome)
    progress.answered()
    if ('error' in outcome) return
    writtenMs += outcome.ms
    const nowMs = systemClock.elapsedMs()
    if (pipeline.hasNext && nowMs - stepsMs < stepsEveryMs) return
    pruner?.committed(writtenMs)
    mover?.committed()
    writtenMs = 0
    stepsMs = nowMs
  }
  await using pipeline = new CommitPipeline(
    { kv, clock: systemClock, progress, onWait: beat, onOutcome: answer },
    { dir, memoryMaxBytes, heartbeat: heartbeats?.writes },
  )
  // writes of this thread begin when no request is in progress
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) =>
      systemClock.after(ms, () => {
        pipeline.settle()
        run()
      }),
  }
  await using moves = moving && createMover(kv, { ...moving, dir, clock, log, onStep: (moved) => send({ moved }) })
  mover = moves
  port.on('message', (message: ToCommitThread) => {
    if (message.kind === 'close') return port.close()
    if (message.kind === 'prune') pruner = pruning.use(new Pruner({ kv, clock, retention: message.retention, onEvent: sendPruned }))
    else {
      if (message.isSecond) pipeline.start()
      pipeline.commit(unpackCommit(message.request))
    }
  })
  moves?.committed()
  await once(port, 'close')
}
heartbeat.end()

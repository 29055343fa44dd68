// Entry of the commit thread: computes the rows of blocks and writes them, one transaction for each request.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { commitRows } from '#blockchain/commit/committer'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { openLmdbWriter } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import {
  CommitProgress,
  type CommitThreadSettings,
  type FromCommitThread,
  type PackedCommit,
  type ToCommitThread,
  unpackCommit,
} from './wire/commitRequests.ts'

function answer(kv: Kv, request: PackedCommit): FromCommitThread {
  const startMs = systemClock.elapsedMs()
  try {
    commitRows(kv, systemClock, unpackCommit(request))
    return { ms: systemClock.elapsedMs() - startMs }
  } catch (error) {
    return { error: transferError(error) }
  }
}

const { dir, port, progress } = workerData as CommitThreadSettings
const counters = new CommitProgress(progress)
{
  await using kv = openLmdbWriter(dir, Object.values(tables), () => counters.row())
  port.on('message', (message: ToCommitThread) => {
    if (message.kind === 'close') return port.close()
    port.postMessage(answer(kv, message.request))
    counters.answered()
  })
  await once(port, 'close')
}

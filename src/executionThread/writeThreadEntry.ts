// Entry of the write thread: writes rows that the commit thread computed, one transaction for each message.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createThreadGuard } from '#lib/memoryGuard'
import { createPulse, Heartbeat } from '#lib/supervisor'
import { openChainWriter } from '#store/chainTables'
import type { DraftingKv } from '#store/lmdbKv'
import { ThreadProgress } from './waitedThread.ts'
import type { FromWriteThread, ToWriteThread, WaitedThreadSettings, WriteThreadSettings } from './wire/commitRequests.ts'

function write(kv: DraftingKv, packed: Uint8Array): FromWriteThread {
  const startMs = systemClock.elapsedMs()
  try {
    kv.writeDrafted(packed)
    return { ms: systemClock.elapsedMs() - startMs }
  } catch (error) {
    return { error: transferError(error) }
  }
}

const settings = workerData as WriteThreadSettings & WaitedThreadSettings
const { dir, port, memoryMaxBytes } = settings
const progress = new ThreadProgress(settings.progress)
const heartbeat = new Heartbeat(settings.heartbeat, systemClock)
const onRow = (): void => {
  progress.row()
  heartbeat.beat()
}
{
  using _watchdog = createPulse(heartbeat, systemClock)
  using _memory = createThreadGuard(systemClock, memoryMaxBytes)
  await using kv = openChainWriter(dir, onRow)
  port.on('message', (message: ToWriteThread) => {
    if (message === 'close') return port.close()
    port.postMessage(write(kv, message))
    progress.answered()
  })
  await once(port, 'close')
}
heartbeat.end()

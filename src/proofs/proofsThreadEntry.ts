// Entry of the proofs thread: records what the committed blocks of the chain changed, until it is closed.
import { once } from 'node:events'
import { workerData } from 'node:worker_threads'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createTransferLog } from '#lib/logTransfer'
import { openChainReader } from '#store/chainTables'
import { openProofs } from './openProofs.ts'
import type { FromProofsThread, ProofsThreadSettings } from './proofsThread.ts'
import { Recorder } from './recorder.ts'
import { RecorderLoop } from './recorderLoop.ts'

const { port, chainDir, dir, window, stepPauseMs } = workerData as ProofsThreadSettings
const closed = once(port, 'message')
const send = (message: FromProofsThread): void => port.postMessage(message)
const log = createTransferLog((line) => send({ log: line }), 'proofs')
try {
  await using chain = openChainReader(chainDir)
  await using kv = openProofs(dir)
  const recorder = new Recorder({ kv, chain, clock: systemClock }, window)
  recorder.check(dir)
  send({ ready: true })
  const failed = Promise.withResolvers<never>()
  using _loop = new RecorderLoop(
    {
      ...{ recorder, kv, dir, clock: systemClock, log },
      onStep: (step): void => send({ step }),
      onRetry: (error): void => send({ retried: error && transferError(error) }),
      onFailure: failed.reject,
    },
    stepPauseMs,
  )
  await Promise.race([closed, failed.promise])
} catch (error) {
  // the tables are closed: a command may do the work
  send({ failure: transferError(error) })
}
await closed
port.close()

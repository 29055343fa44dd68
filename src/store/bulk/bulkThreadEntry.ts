// Entry of the thread that writes rows in bulk: one transaction for each message.
import { workerData } from 'node:worker_threads'
import { transferError } from '#lib/errorTransfer'
import type { BulkThreadSettings, FromBulkThread, ToBulkThread } from './bulkThread.ts'
import { type BulkWriter, openBulkWriter } from './bulkWriter.ts'

const { dir, specs, ascending, port, answers } = workerData as BulkThreadSettings

function answer(make: () => Uint8Array | undefined): void {
  let message: FromBulkThread
  try {
    message = { value: make() }
  } catch (error) {
    message = { error: transferError(error) }
  }
  port.postMessage(message)
  Atomics.add(answers, 0, 1)
  Atomics.notify(answers, 0)
}

function write(rows: BulkWriter, { rows: shared, bytes }: Extract<ToBulkThread, { kind: 'write' }>): undefined {
  // of a transaction that failed
  rows.discard()
  rows.putPacked(new Uint8Array(shared, 0, bytes))
  rows.flush()
}

function serve(rows: BulkWriter): void {
  port.on('message', async (message: ToBulkThread) => {
    if (message.kind !== 'close') {
      answer(() => (message.kind === 'get' ? rows.get(message.table, message.key) : write(rows, message)))
      return
    }
    try {
      await (message.removes ? rows.remove() : rows[Symbol.asyncDispose]())
    } catch (error) {
      answer(() => {
        throw error
      })
    } finally {
      port.close()
    }
  })
}

answer(() => {
  // without tables the thread ends
  serve(openBulkWriter(dir, specs, ascending))
  return undefined
})

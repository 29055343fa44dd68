// Thread of the tests of RestartedThread: begins, or reports that it cannot and does not end by itself.
import { systemClock } from '#lib/clock'
import { enterThread } from '#lib/peers/restartedThread'

/** `counts`: shared; numbers of threads that have begun, and of closed ones. */
export type TestThreadSettings = { readonly counts: Int32Array; readonly isFailing: boolean }
export type OfTestThread = { crash(): void; close(): Promise<void> }

const thread = enterThread<OfTestThread, object, TestThreadSettings>(
  {
    crash: () => process.exit(1),
    async close(): Promise<void> {
      Atomics.add(counts, 1, 1)
      thread.end()
    },
  },
  'test',
)
const { counts, isFailing } = thread.settings

if (isFailing) {
  thread.failed(new Error('the port is taken'))
  await systemClock.delay(3_600_000)
} else {
  Atomics.add(counts, 0, 1)
  thread.ready(undefined)
}

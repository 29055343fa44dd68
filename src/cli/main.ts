import { systemClock } from '#lib/clock'
import type { Io } from './command.ts'
import { runCli } from './run.ts'

/** A process group gets a signal as a whole, and the launcher passes it on: what comes this soon is the same one. */
const sameSignalMs = 1_000

function processIo(): Io {
  const stop = new AbortController()
  let firstMs = 0
  const onSignal = (): void => {
    const nowMs = systemClock.nowMs()
    if (stop.signal.aborted && nowMs - firstMs > sameSignalMs) process.exit(130)
    if (!stop.signal.aborted) firstMs = nowMs
    stop.abort()
  }
  // nobody reads any more (`| head`): the end, as a signal is; a full disk is another matter
  const onBroken = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error
    stop.abort()
  }
  process.stdout.on('error', onBroken)
  process.stderr.on('error', onBroken)
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  process.on('disconnect', onSignal)
  return {
    out: process.stdout,
    err: { write: (text) => process.stderr.write(text), isTerminal: process.stderr.isTTY === true },
    env: process.env,
    clock: systemClock,
    signal: stop.signal,
  }
}

process.exitCode = await runCli(process.argv.slice(2), processIo())
if (process.connected) process.disconnect()

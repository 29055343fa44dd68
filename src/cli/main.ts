import { systemClock } from '#lib/clock'
import type { Io } from './command.ts'
import { runCli } from './run.ts'

function processIo(): Io {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130)
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

import { systemClock } from '#lib/clock'
import type { Io } from './command.ts'
import { runCli } from './run.ts'

function processIo(): Io {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130)
    stop.abort()
  }
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

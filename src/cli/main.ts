import { systemClock } from '#lib/clock'
import { Supervisor } from '#lib/supervisor'
import type { Io } from './command.ts'
import { runCli } from './run.ts'

/** A process group gets a signal as a whole, and the launcher passes it on: what comes this soon is the same one. */
const sameSignalMs = 1_000

/** Set by bin/supervise.js, and of no concern to the commands, which look for variables that they do not know. */
const reportFdVariable = 'BASALT_REPORT_FD'

function takeSupervisor(): Supervisor | undefined {
  const fd = process.env[reportFdVariable]
  delete process.env[reportFdVariable]
  return fd === undefined ? undefined : new Supervisor(Number(fd))
}

/** Not `process.exit` alone: it waits for threads, and one that ends inside a transaction of lmdb waits for ever. */
function endNow(): never {
  process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
  process.exit(130)
}

function processIo(): Io {
  const stop = new AbortController()
  let firstMs = 0
  const onSignal = (): void => {
    const nowMs = systemClock.nowMs()
    if (stop.signal.aborted && nowMs - firstMs > sameSignalMs) endNow()
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
  const supervisor = takeSupervisor()
  return {
    out: process.stdout,
    err: { write: (text) => process.stderr.write(text), isTerminal: process.stderr.isTTY === true },
    env: process.env,
    clock: systemClock,
    signal: stop.signal,
    ...(supervisor && { supervisor }),
  }
}

process.exitCode = await runCli(process.argv.slice(2), processIo())
// the channel to the parent keeps this process; its end is not the parent's
process.removeAllListeners('disconnect')
if (process.connected) process.disconnect()

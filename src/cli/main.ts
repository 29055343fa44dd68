import { systemClock } from '#lib/clock'
import { Supervisor } from '#lib/supervisor'
import type { Io } from './command.ts'
import { runCli } from './run.ts'
import { processTerminal } from './terminal.ts'

/** A process group gets a signal as a whole, and the launcher forwards it: a second signal this soon is the same one. */
const sameSignalMs = 1_000

/** Set by bin/supervise.js. Removed before the commands run, because they warn of unknown variables. */
const reportFdVariable = 'BASALT_REPORT_FD'

function takeSupervisor(): Supervisor | undefined {
  const fd = process.env[reportFdVariable]
  delete process.env[reportFdVariable]
  return fd === undefined ? undefined : new Supervisor(Number(fd))
}

/** Kills the process: `process.exit` waits for threads, and a thread that ends inside an lmdb transaction never finishes. */
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
  // the reader has closed the pipe (`| head`): ends like a signal; other errors, such as a full disk, are thrown
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
  const terminal = processTerminal()
  return {
    out: process.stdout,
    err: { write: (text) => process.stderr.write(text), isTerminal: process.stderr.isTTY === true },
    env: process.env,
    clock: systemClock,
    signal: stop.signal,
    ...(supervisor && { supervisor }),
    ...(terminal && { terminal }),
  }
}

process.exitCode = await runCli(process.argv.slice(2), processIo())
// the channel to the parent keeps this process alive; closing it is no signal of the parent's end
process.removeAllListeners('disconnect')
if (process.connected) process.disconnect()

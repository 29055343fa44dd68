// Plain JavaScript for any Node: runs a program in a child process, watches its threads, and reports an end that the child cannot report itself.
// The child's end of the protocol is src/lib/supervisor.ts.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'

/** Descriptor for the child's messages, one JSON object per line. */
const reportFd = 4
const lookEveryMs = 1_000
/** Looks without a heartbeat after which a thread that sleeps, or is gone, is stuck; a thread that computes or waits for the disk does not sleep. */
const asleepLooks = 10
/** Looks without a heartbeat after which a thread that computes, or waits for a disk, is stuck. */
const silentLooks = 300
/** Time for the child to end after a signal, less than the minute that compose.yaml gives. */
const stopMs = 50_000
/** A second signal within this time is the same one: it goes to the whole process group, and this process forwards it too. */
const sameSignalMs = 1_000

/** Returns the state letter of a thread from /proc; undefined where the system has no /proc. */
function stateOf(pid, thread) {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2]
  } catch {
    return undefined
  }
}

function waitsForDisk(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) => stateOf(pid, thread) === 'D')
  } catch {
    return false
  }
}

/** Threads that send heartbeats. */
class Watches {
  #byId = new Map()

  take({ id, thread, line, over }) {
    if (over) this.#byId.delete(id)
    else this.#byId.set(id, { ...this.#byId.get(id), ...(line && { line, thread }), silent: 0, asleep: 0 })
  }

  /** @returns the line to print for a stuck thread; undefined: no thread is stuck */
  look(pid) {
    for (const watch of this.#byId.values()) {
      const state = stateOf(pid, watch.thread)
      // stopped by a signal, for example by a debugger
      if (state === 'T' || state === 't') continue
      watch.silent++
      const isGone = state === undefined && watch.thread !== undefined
      if ((state === 'S' || isGone) && !waitsForDisk(pid)) watch.asleep++
      if (watch.asleep >= asleepLooks || watch.silent >= silentLooks) return watch.line
    }
    return undefined
  }
}

/** Calls a function with each complete line of a stream. */
function eachLine(stream, take) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    lines.forEach(take)
  })
  // the stream fails when the child ends
  stream.on('error', () => {})
}

/**
 * Runs a command until it ends and forwards SIGINT and SIGTERM to it. Ends as the child does: with its exit code, or with 128 plus the number of the
 * signal that ended it. Kills a child that does not stop, or has a stuck thread; a second signal kills it at once.
 */
export function supervise(command, args, env) {
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc', 'pipe']
  const child = spawn(command, args, { env: { ...env, BASALT_REPORT_FD: String(reportFd) }, stdio })
  const watches = new Watches()
  let lines = {}
  let end
  let firstSignal

  /** @param line undefined: nothing is printed */
  const kill = (line) => {
    end ??= { line }
    child.kill('SIGKILL')
  }
  eachLine(child.stdio[reportFd], (line) => {
    const message = JSON.parse(line)
    if (message.lines) lines = message.lines
    else watches.take(message)
  })
  const looks = setInterval(() => {
    const line = watches.look(child.pid)
    if (line !== undefined) kill(line)
  }, lookEveryMs)
  looks.unref()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      const nowMs = performance.now()
      if (firstSignal && nowMs - firstSignal.ms > sameSignalMs) return kill(undefined)
      if (!firstSignal) setTimeout(() => kill(lines.late), stopMs).unref()
      firstSignal ??= { ms: nowMs, name: signal }
      child.kill(signal)
    })
  }
  // stderr may be closed
  process.stderr.on('error', () => {})
  child.on('error', (error) => {
    process.stderr.write(`basalt: cannot start ${command}: ${error.message}\n`)
    process.exitCode = 2
  })
  child.on('exit', (code, signal) => {
    clearInterval(looks)
    if (code !== null) {
      process.exitCode = code
      return
    }
    const line = end ? end.line : (lines[signal] ?? lines.other ?? `basalt: ended by ${signal}\n`)
    if (line !== undefined) process.stderr.write(line)
    process.exitCode = 128 + constants.signals[end && !line && firstSignal ? firstSignal.name : signal]
  })
}

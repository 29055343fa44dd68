import type { Buffer } from 'node:buffer'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Clock } from '#lib/clock'

/**
 * Shell script that runs a program and ends it when this process ends, also when it is killed. The shell waits for the end of a pipe that only this
 * process holds. It then ends the program: SIGTERM, so that it can save; SIGKILL after the seconds of its first argument. Both have their own process
 * group, so a terminal's Ctrl-C does not reach them, and this process ends them in its order.
 */
const guard = `
looks=$(($1 * 20))
shift
"$@" </dev/null &
child=$!
echo "pid $child"
exec >/dev/null 2>&1
trap '' INT TERM HUP
while read -r _; do :; done
kill -TERM $child
n=0
while kill -0 $child && [ $n -lt $looks ]; do sleep 0.05; n=$((n+1)); done
kill -KILL $child
wait $child
`

export interface GuardedChild extends AsyncDisposable {
  /** process id of the program, not of the shell */
  readonly pid: number
  /** Resolves with the end of the program's output when it has ended, for any reason. */
  readonly ended: Promise<string>
}

const keptOutputBytes = 4_096
/** Time from the guard's SIGKILL to that of this process, in case the guard is stopped. */
const lateMs = 3_000

/** Returns the process id on the shell's first line. */
function pidOf(shell: ChildProcessWithoutNullStreams): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('utf8')
      const [, pid] = /^pid (\d+)\n/.exec(text) ?? []
      if (pid === undefined) return
      shell.stdout.off('data', onData)
      resolve(Number(pid))
    }
    shell.stdout.on('data', onData)
    shell.once('error', reject)
    shell.once('close', () => reject(new Error('the shell ended before it started the program')))
  })
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}

/**
 * Starts a program under the guard.
 * @param stopSec whole seconds from SIGTERM to SIGKILL
 * @throws Error when there is no shell
 */
export async function startGuarded(clock: Clock, file: string, args: readonly string[], stopSec = 5): Promise<GuardedChild> {
  const guarded = ['-c', guard, 'basalt-guard', String(stopSec), file, ...args]
  const shell = spawn('/bin/sh', guarded, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-keptOutputBytes)
  }
  // the shell closes both streams, so their end is the program's end
  shell.stderr.on('data', keep)
  shell.stdin.on('error', () => {})
  const closed = new Promise<void>((resolve) => shell.once('close', () => resolve()))
  const outputEnded = Promise.all([shell.stdout, shell.stderr].map((stream) => new Promise<void>((done) => stream.once('close', done))))
  const pid = await pidOf(shell)
  shell.stdout.on('data', keep)
  // a killed shell leaves the program running; after a normal exit of the shell, the process id may belong to another process
  shell.once('exit', (_code, signal) => {
    if (signal !== null) killNow(pid)
  })
  const ended = outputEnded.then(() => {
    shell.stdin.end()
    return output.trim()
  })
  return {
    pid,
    ended,
    async [Symbol.asyncDispose](): Promise<void> {
      shell.stdin.end()
      const late = clock.after(stopSec * 1_000 + lateMs, () => killNow(pid))
      await Promise.all([ended, closed])
      late[Symbol.dispose]()
    },
  }
}

import type { Io } from '../../../src/cli/command.ts'
import { createManualClock } from '../clock.ts'

export type ScriptedIo = Io & {
  /** Output written so far. */
  readonly written: { out: string; err: string }
  /** Sends the interrupt of Ctrl-C. */
  interrupt(): void
}

/** Process environment of a command under test. */
export function scriptedIo(options: { env?: NodeJS.ProcessEnv; isTerminal?: boolean; clock?: Io['clock'] } = {}): ScriptedIo {
  const { env = {}, isTerminal = false, clock = createManualClock() } = options
  const written = { out: '', err: '' }
  const writeTo = (stream: 'out' | 'err') => (text: string) => {
    written[stream] += text
  }
  const stop = new AbortController()
  return {
    out: { write: writeTo('out') },
    err: { write: writeTo('err'), isTerminal },
    env,
    clock,
    signal: stop.signal,
    written,
    interrupt: () => stop.abort(),
  }
}

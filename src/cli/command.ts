import type { Clock } from '#lib/clock'
import type { Supervisor } from '#lib/supervisor'
import type { FlagName, RawFlags } from './flags.ts'

/** The part of its process that a command may use. */
export type Io = {
  readonly out: { write(text: string): void }
  readonly err: { write(text: string): void; readonly isTerminal: boolean }
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal
  /** The parent process, if it watches this one. */
  readonly supervisor?: Supervisor
}

export type Command = {
  readonly name: string
  readonly doc: string
  readonly argument?: { readonly name: string; readonly doc: string }
  readonly flags: readonly FlagName[]
  /** subcommands, as in `basalt devnet tx` */
  readonly commands?: readonly Command[]
  /** @returns the exit code; faults that it throws become one line and exit code 2 */
  run(io: Io, raw: RawFlags, argument: string): Promise<number>
}

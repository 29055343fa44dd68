import type { Clock } from '#lib/clock'
import type { Supervisor } from '#lib/supervisor'
import type { FlagName, RawFlags } from './flags.ts'
import type { Terminal } from './terminal.ts'

/** The part of its process that a command may use. */
export type Io = {
  readonly out: { write(text: string): void }
  readonly err: { write(text: string): void; readonly isTerminal: boolean }
  /** absent: input or output is not a terminal */
  readonly terminal?: Terminal
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal
  /** The parent process, if it watches this one. */
  readonly supervisor?: Supervisor
}

/** A word after the name of a command. */
type Argument = { readonly name: string; readonly doc: string }

/** Arguments, flags and work of a command. */
export type CommandBody = {
  readonly argument?: Argument
  /** after the first one */
  readonly secondArgument?: Argument
  readonly flags: readonly FlagName[]
  /** flags of `basalt node` that the command takes too; the help does not list them */
  readonly nodeFlags?: readonly FlagName[]
  /** its output contains no secret of the flags and variables, even in the texts of other programs */
  readonly masksSecrets?: true
  /** subcommands, as in `basalt devnet tx` */
  readonly commands?: readonly Command[]
  /** @returns the exit code; faults that it throws become one line and the exit code of `exitCodes.ts` */
  run(io: Io, raw: RawFlags, argument: string, secondArgument?: string): Promise<number>
}

/** A subcommand. */
export type Command = CommandBody & { readonly name: string; readonly doc: string }

/** A command of `basalt`, whose files are loaded when the command line names it. */
export type CommandEntry = Pick<Command, 'name' | 'doc'> & { load(): Promise<CommandBody> }

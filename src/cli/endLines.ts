import { join } from 'node:path'
import type { LogFormat } from '#lib/logNames'
import type { EndLines } from '#lib/supervisor'
import type { NodeOptions } from '#node/nodeOptions'
import { cliFault } from './faults.ts'
import { fatalLine } from './logOutput.ts'

/** Signals by which the system or the runtime ends a faulty process. */
const crashes = ['SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGTRAP', 'SIGFPE'] as const

const dataFileIn = (dir: string): string => join(dir, 'data.mdb')

/**
 * Lines that the parent process writes about an end of a command that reads or writes a database file.
 * @param proofsDir of a command on recorded proofs, which reads their file and that of the chain
 */
export function commandEndLines(command: string, datadir: string, format: LogFormat, proofsDir?: string): EndLines {
  const path = dataFileIn(join(datadir, 'chain'))
  const line = (fault: Error): string => fatalLine(fault, format)
  const damaged = (signal: string): Error =>
    proofsDir === undefined
      ? cliFault('DATABASE_PAGE_DAMAGED', { command, signal, path })
      : cliFault('PROOFS_PAGE_DAMAGED', { command, signal, path: dataFileIn(proofsDir), chainPath: path })
  const ofPages = ['SIGBUS', ...crashes].map((signal) => [signal, line(damaged(signal))])
  const killed = line(cliFault('COMMAND_KILLED', { command }))
  return { ...Object.fromEntries(ofPages), SIGKILL: killed, other: killed, stuck: killed, late: killed }
}

/** Lines that the parent process writes about an end of the node that the node cannot report itself. */
export function endLines({ mode, datadir }: Pick<NodeOptions, 'mode' | 'datadir'>, format: LogFormat): EndLines {
  const stores = { all: ['chain', 'consensus'], execution: ['chain'], consensus: ['consensus'] }[mode]
  const files = stores.map((store) => dataFileIn(join(datadir, store)))
  const line = (fault: Error): string => fatalLine(fault, format)
  const ofCrashes = crashes.map((signal) => [signal, line(cliFault('NODE_CRASHED', { signal }))])
  return {
    ...Object.fromEntries(ofCrashes),
    SIGBUS: line(cliFault('STORE_UNREADABLE', { files })),
    SIGKILL: line(cliFault('NODE_KILLED', {})),
    other: line(cliFault('NODE_CRASHED', { signal: 'a signal' })),
    stuck: line(cliFault('EXECUTION_STUCK', {})),
    late: line(cliFault('STOP_TIMED_OUT', {})),
  }
}

import { restoreError, sendable, type TransferredError, transferError } from './errorTransfer.ts'
import { type Log, type LogFields, logTo } from './log.ts'
import type { LogLevel } from './logNames.ts'

/** A log line in the form that crosses between threads. */
export type LogLine = {
  readonly module: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
  /** The fields that are errors. */
  readonly errors: Readonly<Record<string, TransferredError>>
}

/** Creates a log that sends each line to another thread, which writes it. */
export function createTransferLog(send: (line: LogLine) => void, module: string): Log {
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    const errors: Record<string, TransferredError> = {}
    const rest: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(fields)) {
      if (value instanceof Error) errors[key] = transferError(value)
      else rest[key] = value
    }
    send({ module, level, message, fields: sendable(rest), errors })
  }
  return logTo(write, (name) => createTransferLog(send, name))
}

/** Writes a line received from another thread. */
export function writeLine(log: Log, { module, level, message, fields, errors }: LogLine): void {
  const received = Object.entries(errors).map(([key, error]) => [key, restoreError(error)])
  log.child(module)[level](message, { ...fields, ...Object.fromEntries(received) })
}

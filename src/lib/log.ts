import { pino } from 'pino'
import { isFault } from './fault.ts'
import type { LogLevel } from './logNames.ts'

export type LogFields = Readonly<Record<string, unknown>>

/** Logger with a static message and typed fields: `log.info('block imported', { number, hash, txs, gas, ms })`. */
export interface Log {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns the same log with a module's name on each line. */
  child(module: string): Log
}

export type LogSink = { write(line: string): void }

/** A log whose level can be changed at runtime; its children follow. */
export type RootLog = Log & {
  level(): LogLevel
  setLevel(level: LogLevel): void
}

/** Returns a log that passes each line to `write`. @param child returns the log of a module */
export function logTo(write: (level: LogLevel, message: string, fields?: LogFields) => void, child: (module: string) => Log): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      write(level, message, fields)
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child }
}

type Threshold = { level: LogLevel }

const severity: Readonly<Record<LogLevel, number>> = { trace: 0, debug: 1, info: 2, warn: 3, error: 4 }

function adapt(logger: pino.Logger, threshold: Threshold): Log {
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (severity[level] >= severity[threshold.level]) logger[level](fields, message)
  }
  return logTo(write, (module) => adapt(logger.child({ module }), threshold))
}

/** Serializes an error. A fault is expected, so its stack is omitted; its cause is one line, unless the message already contains it. */
function shownError(error: Error): unknown {
  if (!isFault(error)) return pino.stdSerializers.errWithCause(error)
  const { message, code, fix, cause } = error
  const reason = isFault(cause) || cause instanceof Error ? cause.message : undefined
  return { message, code, fix, ...(reason && !message.includes(reason) && { cause: reason }) }
}

/** Creates a log that writes JSON lines to the sink. A Fault field has message, code and fix; any other Error has type, message, stack and cause. */
export function createLog(level: LogLevel, sink: LogSink): RootLog {
  const threshold: Threshold = { level }
  const logger = pino(
    {
      level: 'trace',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: shownError, cause: shownError },
    },
    sink,
  )
  return {
    ...adapt(logger, threshold),
    level: () => threshold.level,
    setLevel(next): void {
      threshold.level = next
    },
  }
}

export const silentLog: Log = createLog('error', { write: () => {} })

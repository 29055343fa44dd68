import { pino } from 'pino'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

/** Static message, typed fields: `log.info('block imported', { number, hash, txs, gas, ms })`. */
export interface Log {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same log with a module's name on each line. */
  child(module: string): Log
}

export type LogSink = { write(line: string): void }

function adapt(logger: pino.Logger): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      logger[level](fields, message)
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (module) => adapt(logger.child({ module })),
  }
}

/** JSON lines to the sink; an Error in a field is written as type, message, stack and cause. */
export function createLog(level: LogLevel, sink: LogSink): Log {
  return adapt(
    pino(
      {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: pino.stdSerializers.errWithCause, cause: pino.stdSerializers.errWithCause },
      },
      sink,
    ),
  )
}

export const silentLog: Log = createLog('error', { write: () => {} })

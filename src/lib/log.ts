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

/** Level of a log, and of each module that has written or may write; null: the module follows the level of the log. */
export type LogLevels = { readonly level: LogLevel; readonly modules: Readonly<Record<string, LogLevel | null>> }

/** A log whose levels can be changed at runtime; its children follow. */
export type RootLog = Log & {
  level(): LogLevel
  levels(): LogLevels
  setLevel(level: LogLevel): void
  /** @param level undefined: the module follows the level of the log @returns false: no module has this name */
  setModuleLevel(module: string, level: LogLevel | undefined): boolean
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
/** Threshold of a module; without a level that of the log applies. */
type ModuleThreshold = { level: LogLevel | undefined }

/** Modules come from the code: more names than this are an error there, and their level cannot be set. */
const maxModules = 200

const severity: Readonly<Record<LogLevel, number>> = { trace: 0, debug: 1, info: 2, warn: 3, error: 4 }

type Thresholds = { readonly root: Threshold; readonly modules: Map<string, ModuleThreshold> }

function moduleThreshold({ modules }: Thresholds, module: string): ModuleThreshold {
  const found = modules.get(module)
  if (found) return found
  const threshold: ModuleThreshold = { level: undefined }
  if (modules.size < maxModules) modules.set(module, threshold)
  return threshold
}

/** @param base logger without a module: the child of a child has one module, its own */
function adapt(base: pino.Logger, thresholds: Thresholds, module?: string): Log {
  const { root } = thresholds
  const logger = module === undefined ? base : base.child({ module })
  const own = module === undefined ? undefined : moduleThreshold(thresholds, module)
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (severity[level] >= severity[own?.level ?? root.level]) logger[level](fields, message)
  }
  return logTo(write, (child) => adapt(base, thresholds, child))
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
  const thresholds: Thresholds = { root: { level }, modules: new Map() }
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
    ...adapt(logger, thresholds),
    level: () => thresholds.root.level,
    levels(): LogLevels {
      const modules = [...thresholds.modules].map(([module, { level: own }]) => [module, own ?? null] as const)
      return { level: thresholds.root.level, modules: Object.fromEntries(modules.toSorted(([a], [b]) => (a < b ? -1 : 1))) }
    },
    setLevel(next): void {
      thresholds.root.level = next
    },
    setModuleLevel(module, next): boolean {
      const threshold = thresholds.modules.get(module)
      if (threshold) threshold.level = next
      return threshold !== undefined
    },
  }
}

export const silentLog: Log = createLog('error', { write: () => {} })

/** Names of log levels and formats, apart from `log.ts`: the tables of flags need them without the logger. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** Output formats. A sink always receives JSON and renders the other formats from it. */
export const logFormats = ['pretty', 'json', 'logfmt'] as const
export type LogFormat = (typeof logFormats)[number]

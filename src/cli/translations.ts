/** Translates a value in another client's form into ours. */
export type Translation = {
  /** Description of the older form, for the error. */
  readonly expected: string
  /** undefined: not in the older form; null: in that form, and the flag is not set */
  readonly to: (value: string) => string | null | undefined
}

/** Looks up a value in a table, ignoring its case. */
const byTable = (table: Readonly<Record<string, string | null>>): Translation => ({
  expected: `one of ${Object.keys(table).join(', ')}`,
  to: (value): string | null | undefined => {
    const key = value.toLowerCase()
    return Object.hasOwn(table, key) ? table[key] : undefined
  },
})

/** Names and ids of chains → names of `--network`. */
export const networkName: Translation = byTable({
  base: 'base',
  'base-mainnet': 'base',
  '8453': 'base',
  'base-sepolia': 'base-sepolia',
  base_sepolia: 'base-sepolia',
  '84532': 'base-sepolia',
})

/** 1 error … 5 trace. */
export const verbosity: Translation = byTable({ '1': 'error', '2': 'warn', '3': 'info', '4': 'debug', '5': 'trace' })

/** Names of log levels, including op-node's. */
export const levelName: Translation = byTable({
  crit: 'error',
  eror: 'error',
  error: 'error',
  warn: 'warn',
  info: 'info',
  dbug: 'debug',
  debug: 'debug',
  trce: 'trace',
  trace: 'trace',
})

/** Names of log formats → json, logfmt, pretty. */
export const lineFormat: Translation = byTable({
  full: 'pretty',
  compact: 'pretty',
  pretty: 'pretty',
  text: 'pretty',
  terminal: 'pretty',
  json: 'json',
  'json-pretty': 'json',
  logfmt: 'logfmt',
  logfmtms: 'logfmt',
})

const wsToHttp: Readonly<Record<string, string>> = { 'ws:': 'http:', 'wss:': 'https:', 'http:': 'http:', 'https:': 'https:' }

/** An Engine API URL: a WebSocket URL of an older file becomes HTTP, which the same port serves. */
export const engineUrl: Translation = {
  expected: 'a URL that begins with http, https, ws or wss',
  to: (value): string | undefined => {
    const protocol = URL.canParse(value) ? wsToHttp[new URL(value).protocol] : undefined
    return protocol === undefined ? undefined : value.replace(/^\w+:/, protocol)
  },
}

/** true and false, ignoring case. */
export const trueOrFalse: Translation = byTable({ true: 'true', false: 'false', '1': 'true', '0': 'false' })

/** A switch for port mapping → its method. */
export const natMethod: Translation = byTable({ true: 'upnp', false: 'none' })

/** Variables that switch a server on or off, translated to its port flag. */
export const offUnlessTrue: Translation = byTable({ true: null, false: 'off', '1': null, '0': 'off' })
export const offIfTrue: Translation = byTable({ true: 'off', false: null, '1': 'off', '0': null })

/** URL of a collector, of all signals or of traces: both become the base URL. */
export const collectorUrl: Translation = {
  expected: 'a URL that begins with http:// or https://',
  to: (value) => (URL.canParse(value) ? value.replace(/\/(?:v1\/traces\/?)?$/, '') : undefined),
}

/** A distance in blocks, the form of older configurations. */
export const inBlocks: Translation = {
  expected: 'a number of blocks',
  to: (value) => (/^[1-9]\d{0,8}$/.test(value) ? `${value}b` : undefined),
}

/** How a value that other clients' operators write becomes one of ours. */
export type Translation = {
  /** What the older form is, for the error. */
  readonly expected: string
  /** undefined: not of the older form; null: of that form, and says nothing */
  readonly to: (value: string) => string | null | undefined
}

/** Reads a table, whatever the case of the value. */
const byTable = (table: Readonly<Record<string, string | null>>): Translation => ({
  expected: `one of ${Object.keys(table).join(', ')}`,
  to: (value): string | null | undefined => {
    const key = value.toLowerCase()
    return Object.hasOwn(table, key) ? table[key] : undefined
  },
})

/** Names and numbers of the chains, as `--network` calls them. */
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

/** Names of levels, those of op-node too. */
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

/** Formats of log lines: ours are json, logfmt and one for people. */
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

/** An Engine API URL: over WebSocket in older files, the same port answers HTTP. */
export const engineUrl: Translation = {
  expected: 'a URL that begins with http, https, ws or wss',
  to: (value): string | undefined => {
    const protocol = URL.canParse(value) ? wsToHttp[new URL(value).protocol] : undefined
    return protocol === undefined ? undefined : value.replace(/^\w+:/, protocol)
  },
}

/** true and false, whatever the case. */
export const trueOrFalse: Translation = byTable({ true: 'true', false: 'false', '1': 'true', '0': 'false' })

/** A server that is switched on by its own variable: off means no port. */
export const offUnlessTrue: Translation = byTable({ true: null, false: 'off', '1': null, '0': 'off' })
export const offIfTrue: Translation = byTable({ true: 'off', false: null, '1': 'off', '0': null })

/** A distance that older configurations count in blocks. */
export const inBlocks: Translation = {
  expected: 'a number of blocks',
  to: (value) => (/^[1-9]\d{0,8}$/.test(value) ? `${value}b` : undefined),
}

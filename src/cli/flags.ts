import { networkNames } from '#chain/networks'
import { logLevels } from '#lib/log'
import { cliFault } from './faults.ts'

/** One flag, everywhere: command line, environment, help, reference. `parse` throws nothing: it returns undefined on a bad value. */
export type Flag<T> = {
  readonly env: string
  readonly alsoEnv: readonly string[]
  readonly doc: string
  /** Written `--flag <placeholder>`; a switch has none. */
  readonly placeholder?: string
  /** What a good value is, for the error: `a port (0–65535)`. */
  readonly expected: string
  /** Never logged, never printed. */
  readonly secret: boolean
  /** Set: a fault, until the feature is there. */
  readonly unsupported: boolean
  readonly parse: (text: string) => T | undefined
}

/** A flag that always has a value. */
export type DefaultedFlag<T> = Flag<T> & { readonly fallback: T }

type Options = { doc: string; env: string; alsoEnv?: readonly string[]; secret?: boolean; unsupported?: boolean }

function flag<T>(options: Options, placeholder: string | undefined, expected: string, parse: (text: string) => T | undefined): Flag<T> {
  const named = { alsoEnv: [], secret: false, unsupported: false, ...options, expected, parse }
  return placeholder === undefined ? named : { ...named, placeholder }
}

const defaulted = <T>(spec: Flag<T>, fallback: T): DefaultedFlag<T> => ({ ...spec, fallback })

const text = (options: Options, placeholder: string): Flag<string> =>
  flag(options, placeholder, 'a text', (value) => (value === '' ? undefined : value))

const choice = <const T extends string>(options: Options, choices: readonly T[]): Flag<T> =>
  flag(options, choices.join('|'), `one of ${choices.join(', ')}`, (value) => choices.find((one) => one === value))

function integer(options: Options, placeholder: string, min: number, max: number): Flag<number> {
  return flag(options, placeholder, `an integer from ${min} to ${max}`, (value) => {
    if (!/^\d{1,15}$/.test(value)) return undefined
    const number = Number(value)
    return number >= min && number <= max ? number : undefined
  })
}

const port = (options: Options): Flag<number> => integer(options, 'PORT', 0, 65_535)

const urls = (options: Options): Flag<readonly string[]> =>
  flag(options, 'URL[,URL]', 'a list of http or https URLs', (value) => {
    const list = value.split(',').map((url) => url.trim())
    return list.every((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) ? list : undefined
  })

const onOff = (options: Options): DefaultedFlag<boolean> =>
  defaulted(
    flag<boolean>(options, undefined, 'true or false', (value) => (value === 'true' ? true : value === 'false' ? false : undefined)),
    false,
  )

/** Every flag of every command. */
export const flags = {
  network: choice({ env: 'BASALT_NETWORK', alsoEnv: ['BASE_NODE_NETWORK'], doc: 'a chain whose facts are built in' }, networkNames),
  'rollup.config': text(
    { env: 'BASALT_ROLLUP_CONFIG', doc: "rollup config of a chain of one's own, in op-node's format; with --genesis" },
    'FILE',
  ),
  genesis: text({ env: 'BASALT_GENESIS', doc: "genesis of a chain of one's own, in geth's format" }, 'FILE'),
  datadir: defaulted(text({ env: 'BASALT_DATADIR', doc: 'where the chain is kept; one node at a time' }, 'DIR'), './basalt-data'),
  'l1.rpc': urls({ env: 'BASALT_L1_RPC', alsoEnv: ['BASE_NODE_L1_ETH_RPC'], secret: true, doc: 'L1 JSON-RPC endpoints, best first' }),
  'l1.beacon': urls({
    env: 'BASALT_L1_BEACON',
    alsoEnv: ['BASE_NODE_L1_BEACON'],
    secret: true,
    doc: 'L1 beacon API endpoints, best first',
  }),
  'l1.poll-interval': defaulted(
    integer({ env: 'BASALT_L1_POLL_INTERVAL', doc: 'milliseconds between two looks at the head of L1' }, 'MS', 50, 600_000),
    4_000,
  ),
  'http.port': defaulted(port({ env: 'BASALT_HTTP_PORT', doc: 'JSON-RPC of the L2 chain, on 127.0.0.1; 0: any free port' }), 8545),
  'ws.port': port({ env: 'BASALT_WS_PORT', doc: 'JSON-RPC over WebSocket; not supported yet', unsupported: true }),
  'authrpc.port': port({ env: 'BASALT_AUTHRPC_PORT', doc: 'Engine API; not supported yet', unsupported: true }),
  'rollup.port': defaulted(
    port({ env: 'BASALT_ROLLUP_PORT', doc: 'JSON-RPC of the rollup node, /healthz, /readyz, /metrics, on 127.0.0.1; 0: any free port' }),
    7545,
  ),
  'p2p.disable': onOff({ env: 'BASALT_P2P_DISABLE', doc: 'no peer-to-peer network; there is none yet, so this changes nothing' }),
  'log.level': defaulted(choice({ env: 'BASALT_LOG_LEVEL', doc: 'the least severe lines to write' }, logLevels), 'info'),
  'log.format': defaulted(choice({ env: 'BASALT_LOG_FORMAT', doc: 'lines for people or for machines' }, ['pretty', 'json']), 'pretty'),
  json: onOff({ env: 'BASALT_JSON', doc: 'print the result as one line of JSON' }),
} as const

export type FlagName = keyof typeof flags
type ValueOf<N extends FlagName> =
  (typeof flags)[N] extends DefaultedFlag<infer T> ? T : (typeof flags)[N] extends Flag<infer T> ? T | undefined : never
/** Values by flag name; undefined only where the table has no fallback. */
export type FlagValues<N extends FlagName> = { readonly [K in N]: ValueOf<K> }

/** What the command line said, by flag name: text, or true for a switch. */
export type RawFlags = Readonly<Record<string, string | boolean | undefined>>

function rawValue(name: FlagName, raw: RawFlags, env: NodeJS.ProcessEnv): string | undefined {
  const given = raw[name]
  if (given !== undefined) return String(given)
  const { env: main, alsoEnv } = flags[name]
  for (const variable of [main, ...alsoEnv]) {
    const value = env[variable]
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/**
 * The command line wins over the environment, that over the fallback.
 * @throws Fault BAD_FLAG naming flag, value and form; UNSUPPORTED for a flag whose feature is not there
 */
export function readFlags<N extends FlagName>(names: readonly N[], raw: RawFlags, env: NodeJS.ProcessEnv): FlagValues<N> {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const spec: Flag<unknown> & { fallback?: unknown } = flags[name]
    const value = rawValue(name, raw, env)
    if (value === undefined) {
      values[name] = spec.fallback
      continue
    }
    if (spec.unsupported) throw cliFault('UNSUPPORTED', { what: `--${name}` })
    const parsed = spec.parse(value)
    if (parsed === undefined) throw cliFault('BAD_FLAG', { flag: name, value: spec.secret ? '(secret)' : value, expected: spec.expected })
    values[name] = parsed
  }
  return values as FlagValues<N>
}

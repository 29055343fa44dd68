import { expect, it } from 'vitest'
import { type FlagName, flags } from './flags.ts'
import { readFlags, readFlagsOfMode, strangeVariables } from './readFlags.ts'

it('cli/readFlags: prefers the command line to the environment, and that to the fallback', () => {
  const env = { BASALT_HTTP_PORT: '9000', BASALT_ROLLUP_PORT: '9001' }
  expect(readFlags(['http.port', 'rollup.port', 'datadir'], { 'http.port': '1' }, env)).toEqual({
    'http.port': 1,
    'rollup.port': 9001,
    datadir: './basalt-data',
  })
})

it.each<[FlagName, string, string]>([
  ['http.port', '70000', 'an integer from 0 to 65535, or off'],
  ['http.port', '-1', 'an integer from 0 to 65535, or off'],
  ['l1.poll-interval', '1e9', 'an integer from 50 to 600000'],
  ['log.level', 'loud', 'one of trace, debug, info, warn, error'],
  ['network', 'optimism', 'one of base, base-sepolia'],
  ['datadir', '', 'a text'],
  ['json', 'yes', 'true or false'],
  ['source.l2.rpc', 'localhost:8545', 'a URL that begins with http:// or https:// or ws:// or wss://'],
  [
    'source.l2.rpc',
    'ws://a,http://b',
    'a URL that begins with http:// or https:// or ws:// or wss://; after an http one a comma and a ws one',
  ],
  ['source.max-ahead', '0', 'a number of seconds, a time such as 90m, 36h or 7d, or a number of blocks written 512b'],
  ['prune.keep', '7w', 'a number of seconds, a time such as 90m, 36h or 7d, or a number of blocks written 512b'],
  ['retain.bodies', 'some', 'a number of seconds, a time such as 90m, 36h or 7d, a number of blocks written 512b, or all'],
  ['db.min-free', '2 gigabytes', 'a number of bytes, such as 500MB or 2GB'],
  ['db.min-free', '999999999999TB', 'a number of bytes, such as 500MB or 2GB'],
  ['rpc.hosts', 'execution:8545', 'a list of host names without ports'],
])('cli/readFlags: refuses --%s %j and names the expected form (BAD_FLAG)', (name, value, expected) => {
  const shown = flags[name].secret ? '(secret)' : value
  expect(() => readFlags([name], { [name]: value }, {})).toThrow(`--${name}: ${JSON.stringify(shown)} is not ${expected}`)
})

it.each<[FlagName, string, unknown]>([
  ['http.port', 'off', 'off'],
  ['source.l2.rpc', 'http://a:1/x, wss://b', 'http://a:1/x,wss://b'],
  ['source.max-ahead', '1024', { sec: 1_024 }],
  ['source.max-ahead', '512b', { blocks: 512 }],
  ['prune.keep', '7d', { sec: 604_800 }],
  ['prune.keep', '90m', { sec: 5_400 }],
  ['retain.receipts', 'all', 'all'],
  ['retain.logs', '30d', { sec: 2_592_000 }],
  ['db.min-free', '500MB', 500_000_000],
  ['db.min-free', '12', 12],
  ['cache', '512MB', 512_000_000],
  ['memory-max', '3GB', 3_000_000_000],
  ['rpc.hosts', 'Execution, node', ['execution', 'node']],
  ['jwt.secret', `0x${'AB'.repeat(32)}`, 'ab'.repeat(32)],
])('cli/readFlags: parses --%s %j', (name, value, meant) => {
  const [mode = 'all'] = flags[name].modes
  expect(readFlagsOfMode([name], mode, {}, { [flags[name].env]: value }).values[name]).toEqual(meant)
  expect(readFlagsOfMode([name], mode, { [name]: value }, {}).values[name]).toEqual(meant)
})

it('cli/readFlags: does not show a secret in the fault (BAD_FLAG)', () => {
  expect(() => readFlags(['l1.rpc'], { 'l1.rpc': 'ftp://key@host' }, {})).toThrow(
    '--l1.rpc: "(secret)" is not a list of http or https URLs',
  )
  const env = { BASE_NODE_L2_ENGINE_AUTH_RAW: 'deadbeef' }
  expect(() => readFlagsOfMode(['jwt.secret'], 'execution', {}, env)).toThrow(
    '--jwt.secret (BASE_NODE_L2_ENGINE_AUTH_RAW): "(secret)" is not 64 hex digits',
  )
})

it('cli/readFlags: takes the variables of other clients for historical proofs', () => {
  const names = ['proofs-history', 'proofs-history.window', 'proofs.path'] as const
  const variables = {
    RETH_HISTORICAL_PROOFS: 'true',
    CLIENT_PROOFS_HISTORY_WINDOW: '1296000',
    RETH_HISTORICAL_PROOFS_STORAGE_PATH: '/data/proofs',
  }
  expect(readFlagsOfMode(names, 'all', {}, variables).values).toEqual({
    'proofs-history': true,
    'proofs-history.window': { blocks: 1_296_000 },
    'proofs.path': '/data/proofs',
  })
  const neutral = readFlagsOfMode(['proofs-history'], 'all', {}, { CLIENT_HISTORICAL_PROOFS: 'false' })
  expect([neutral.values, neutral.notes.length]).toEqual([{ 'proofs-history': false }, 1])
})

it('cli/readFlags: has one variable with the prefix BASALT_ for each flag, and one flag for each alias in a mode', () => {
  const names = Object.values(flags).map((flag) => flag.env)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !name.startsWith('BASALT_'))).toEqual([])
  for (const mode of ['all', 'execution', 'consensus'] as const) {
    const aliases = Object.values(flags).flatMap((flag) =>
      flag.aliases.filter((alias) => alias.modes.includes(mode)).map(({ name }) => name),
    )
    expect(new Set(aliases).size).toBe(aliases.length)
  }
})

it.each<[string, FlagName, Record<string, string>, unknown]>([
  ['URLs', 'l1.rpc', { BASE_NODE_L1_ETH_RPC: 'http://a:1,https://b' }, ['http://a:1', 'https://b']],
  ['a quoted value', 'l1.rpc', { BASE_NODE_L1_ETH_RPC: '"http://a:1"' }, ['http://a:1']],
  ['a chain by its number', 'network', { BASE_NODE_NETWORK: '84532' }, 'base-sepolia'],
  ['a chain by an older name', 'network', { OP_NODE_NETWORK: 'base-mainnet' }, 'base'],
  ['a chain by the name of reth', 'network', { RETH_CHAIN: 'base_sepolia' }, 'base-sepolia'],
  ['a chain by a neutral name', 'network', { CLIENT_CHAIN: 'base' }, 'base'],
  ['names that say the same in two forms', 'network', { BASE_NODE_NETWORK: '8453', RETH_CHAIN: 'base' }, 'base'],
  ['the verbosity', 'log.level', { BASE_NODE_LOG_VERBOSITY: '5' }, 'trace'],
  ['a level', 'log.level', { OP_NODE_LOG_LEVEL: 'INFO' }, 'info'],
  ['a format', 'log.format', { BASE_NODE_LOG_FORMAT: '"full"' }, 'pretty'],
  ['a neutral format', 'log.format', { SVC_NODE_LOG_FORMAT: 'logfmt' }, 'logfmt'],
  ['a source to follow', 'source.l2.rpc', { SVC_NODE_SOURCE_L2_RPC: 'ws://a:1' }, 'ws://a:1'],
  [
    'more beacon endpoints',
    'l1.beacon',
    { BASE_NODE_L1_BEACON: 'http://a', OP_NODE_L1_BEACON_ARCHIVER: 'http://b' },
    ['http://a', 'http://b'],
  ],
  ['a fallback beacon endpoint alone', 'l1.beacon', { OP_NODE_L1_BEACON_FALLBACKS: 'http://b,http://c' }, ['http://b', 'http://c']],
  ['a gate in blocks', 'source.max-ahead', { BASE_NODE_PROOFS_MAX_BLOCKS_AHEAD: '64' }, { blocks: 64 }],
  ['a server that is off', 'rollup.port', { BASE_NODE_RPC_DISABLED: 'true' }, 'off'],
  ['a server that is not off', 'rollup.port', { BASE_NODE_RPC_DISABLED: 'false', BASE_NODE_RPC_PORT: '9545' }, 9545],
  ['metrics that are off', 'metrics.port', { BASE_NODE_METRICS_ENABLED: '"false"' }, 'off'],
  ['an empty value, which is none', 'l1.max-rps', { BASALT_L1_MAX_RPS: '' }, undefined],
])('cli/readFlags: reads %s', (_what, name, env, meant) => {
  expect(readFlags([name], {}, env)[name]).toEqual(meant)
})

it('cli/readFlags: translates a WebSocket URL of the Engine API to HTTP', () => {
  const engineOf = (env: NodeJS.ProcessEnv) => readFlagsOfMode(['engine'], 'consensus', {}, env).values.engine
  expect(engineOf({ BASE_NODE_L2_ENGINE_RPC: 'ws://execution:8551' })).toBe('http://execution:8551')
  expect(engineOf({ OP_NODE_L2_ENGINE_RPC: 'wss://execution' })).toBe('https://execution')
  expect(() => engineOf({ BASE_NODE_L2_ENGINE_RPC: 'ipc:///x' })).toThrow('--engine (BASE_NODE_L2_ENGINE_RPC): "ipc:///x" is not')
})

it('cli/readFlags: reads the ports of each half from one environment', () => {
  const env = {
    RPC_PORT: '1000',
    AUTHRPC_PORT: '1001',
    METRICS_PORT: '6060',
    LOG_LEVEL: 'warn',
    BASE_NODE_RPC_PORT: '2000',
    BASE_NODE_METRICS_PORT: '"7300"',
    BASE_NODE_LOG_VERBOSITY: '4',
  }
  const names = ['http.port', 'engine.port', 'rollup.port', 'metrics.port', 'log.level'] as const
  expect(readFlagsOfMode(names, 'execution', {}, env).values).toEqual({
    'http.port': 1000,
    'engine.port': 1001,
    'rollup.port': 7545,
    'metrics.port': 6060,
    'log.level': 'warn',
  })
  expect(readFlagsOfMode(names, 'consensus', {}, env).values).toEqual({
    'http.port': 8545,
    'engine.port': 8551,
    'rollup.port': 2000,
    'metrics.port': 7300,
    'log.level': 'debug',
  })
})

it('cli/readFlags: names both variables of one flag when they disagree (CONFLICTING_VARIABLES)', () => {
  const env = { BASE_NODE_L1_ETH_RPC: 'http://key@a', OP_NODE_L1_ETH_RPC: 'http://key@b' }
  expect(() => readFlags(['l1.rpc'], {}, env)).toThrow(
    /^BASE_NODE_L1_ETH_RPC and OP_NODE_L1_ETH_RPC both set --l1\.rpc, to different values$/,
  )
  expect(() => readFlags(['network'], {}, { BASALT_NETWORK: 'base', CLIENT_CHAIN: 'base-sepolia' })).toThrow(
    'BASALT_NETWORK and CLIENT_CHAIN',
  )
  expect(readFlags(['l1.rpc'], { 'l1.rpc': 'http://c' }, env)['l1.rpc']).toEqual(['http://c'])
})

it('cli/readFlags: names the flag and the older variable of a bad value (BAD_FLAG)', () => {
  expect(() => readFlags(['log.level'], {}, { BASE_NODE_LOG_VERBOSITY: '6' })).toThrow(
    '--log.level (BASE_NODE_LOG_VERBOSITY): "6" is not one of 1, 2, 3, 4, 5',
  )
  expect(() => readFlags(['log.level'], {}, { LOG_LEVEL: 'constructor' })).toThrow('--log.level (LOG_LEVEL): "constructor" is not')
})

it('cli/readFlags: refuses a flag without effect in the mode on the command line, ignores it in the environment (WRONG_MODE)', () => {
  expect(() => readFlagsOfMode(['engine'], 'all', { engine: 'http://a' }, {})).toThrow(
    '--engine has no effect with --mode all, only with consensus',
  )
  expect(readFlagsOfMode(['engine'], 'all', {}, { BASE_NODE_L2_ENGINE_RPC: 'ws://execution:8551' })).toEqual({
    values: { engine: undefined },
    notes: [],
  })
})

it('cli/readFlags: notes each older name once, with the new one', () => {
  const env = { BASE_NODE_L1_ETH_RPC: 'http://a', SVC_NODE_L1_BEACON: 'http://b', BASALT_LOG_LEVEL: 'warn' }
  expect(readFlagsOfMode(['l1.rpc', 'l1.beacon', 'log.level'], 'all', {}, env).notes.map(({ fields }) => fields)).toEqual([
    { variable: 'BASE_NODE_L1_ETH_RPC', now: 'BASALT_L1_RPC', flag: '--l1.rpc' },
    { variable: 'SVC_NODE_L1_BEACON', now: 'BASALT_L1_BEACON', flag: '--l1.beacon' },
  ])
})

it('cli/readFlags: warns of variables without a meaning, with the reason, and of unknown ones', () => {
  const env = {
    PATH: '/bin',
    STATSD_ADDRESS: '"172.17.0.1"',
    SVC_NODE_P2P_LISTEN_IP: '0.0.0.0',
    P2P_PORT: '30303',
    BASE_NODE_L1_TRUST_RPC: '"false"',
    BASE_NODE_L1_ETH_RCP: 'http://a',
    BASE_NODE_RPC_PORT: '1',
    CLIENT_ID: 'x',
    NODE_TAG: 'v1',
    BASE_NODE_LOG_DIR: '',
  }
  expect(strangeVariables(env).map(({ message, fields }) => [message, fields['variable']])).toEqual([
    ['unknown variable', 'BASE_NODE_L1_ETH_RCP'],
    ['variable has no meaning here', 'BASE_NODE_L1_TRUST_RPC'],
    ['variable has no effect yet', 'P2P_PORT'],
    ['variable has no meaning here', 'STATSD_ADDRESS'],
  ])
})

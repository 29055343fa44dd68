import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import type { NodeMode, NodeOptions } from '#node/nodeOptions'
import { usualRpcThreads } from '#node/threads/rpcThreadCount'
import { nodeOptionsOf, optionFlags, unusedSecretFile } from './nodeOptions.ts'
import { readFlagsOfMode } from './readFlags.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-options-'))
afterAll(() => rmSync(dir, { recursive: true }))
const chain = networkOf('base')
const l1 = { 'l1.rpc': 'http://a', 'l1.beacon': 'http://b' }
const engine = { engine: 'http://e:8551' }

function options(mode: 'all' | 'execution' | 'consensus', raw: Record<string, string>, env: NodeJS.ProcessEnv = {}, nowMs?: number) {
  const { values } = readFlagsOfMode(optionFlags, mode, { mode, datadir: dir, ...raw }, env)
  return nodeOptionsOf(values, chain, '1.2.3', nowMs)
}

it('cli/nodeOptions: starts both halves without the Engine API, on loopback, in mode all', () => {
  const { config, genesis } = chain
  expect(options('all', l1)).toEqual({
    fill: { bytesPerSec: 16_000_000 },
    config,
    genesis,
    name: 'base',
    mode: 'all',
    datadir: dir,
    version: '1.2.3',
    l1: { rpcUrls: ['http://a'], beaconUrls: ['http://b'], pollMs: 4_000 },
    listen: {
      http: { host: '127.0.0.1', port: 8545, api: ['eth', 'net', 'web3', 'rpc'] },
      ws: { host: '127.0.0.1', port: 8546, api: ['eth', 'net', 'web3', 'rpc'] },
      rollup: { host: '127.0.0.1', port: 7545 },
      metrics: { host: '127.0.0.1', port: 7300 },
    },
    callTimeoutMs: 5_000,
    rpcThreads: usualRpcThreads(),
    p2p: {
      ...{ host: '0.0.0.0', port: 9222, advertise: {}, hasDiscovery: true, maxPeers: 30 },
      ...{ bootnodes: [], staticPeers: [], trustedPeers: [] },
      bans: { isOn: true, belowScore: -100, durationMs: 3_600_000 },
    },
    executionPeers: {
      ...{ host: '0.0.0.0', port: 30_303, hasDiscovery: true, maxPeers: 30 },
      ...{ bootnodes: [], staticPeers: [], trustedPeers: [] },
    },
    trustRequired: 'attested',
    hasPage: true,
    isAdminOn: false,
    readyMaxLagSec: 30,
    pendingFallback: 'latest',
    maxPayloadMs: 60_000,
    retention: { history: { sec: 604_800 } },
    minFreeBytes: 2_000_000_000,
    // a sequencing window of 3,600 L1 blocks and twice the channel timeout of 300, with a quarter more
    rows: { bodies: 'all', receipts: 'all', logs: 'all', leastBodies: { sec: 63_000 } },
  })
})

it.each<[Record<string, string>, NodeOptions['retention']]>([
  [{ 'retain.history': '50b' }, { history: { blocks: 50 } }],
  [{ 'retain.history': '36h' }, { history: { sec: 129_600 } }],
  [{ 'retain.history': 'all' }, { history: 'all', proofs: 'all' }],
  [
    { 'retain.history': 'all', 'rpc.eth-proof-window': '2h' },
    { history: 'all', proofs: { sec: 7_200 } },
  ],
  [{ 'rpc.eth-proof-window': '100000' }, { history: { sec: 604_800 }, proofs: { blocks: 100_000 } }],
])('cli/nodeOptions: keeps older states as %j asks', (flags, retention) => {
  expect(options('all', { ...l1, ...flags }).retention).toEqual(retention)
})

it.each(['0', '0b', '-1d', '7w', 'none', '1.5d'])('cli/nodeOptions: refuses %s as a retention (BAD_FLAG)', (value) => {
  for (const flag of ['retain.history', 'rpc.eth-proof-window']) {
    expect(() => options('all', { ...l1, [flag]: value })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
  }
})

it.each(['BASALT_L1_CHAIN_CONFIG', 'BASE_NODE_L1_CHAIN_CONFIG', 'OP_NODE_ROLLUP_L1_CHAIN_CONFIG'])(
  'cli/nodeOptions: reads the blob schedule of L1 from the file of --l1.chain-config or %s, else uses the built-in schedule',
  (variable) => {
    const path = join(dir, 'l1.json')
    const config = { chainId: 1, bpo3Time: 5, blobSchedule: { bpo3: { target: 21, max: 32, baseFeeUpdateFraction: 20_609_697 } } }
    writeFileSync(path, JSON.stringify({ config }))
    const l1BlobSchedule = { changes: [{ fromSec: 5, target: 21, max: 32, updateFraction: 20_609_697n }] }
    expect(options('all', { ...l1, 'l1.chain-config': path }).config).toEqual({ ...chain.config, l1BlobSchedule })
    expect(options('consensus', { ...l1, ...engine }, { [variable]: path }).config).toMatchObject({ l1BlobSchedule })
    expect(options('execution', {}, { [variable]: path }).config).toEqual(chain.config)
    writeFileSync(path, JSON.stringify({ ...config, chainId: 5 }))
    expect(() => options('all', { ...l1, 'l1.chain-config': path })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  },
)

it('cli/nodeOptions: serves the Engine API with a secret and ignores L1 variables in mode execution', () => {
  const {
    listen,
    jwtSecret,
    l1: none,
    source,
  } = options('execution', {}, { BASE_NODE_L1_ETH_RPC: 'http://a', BASALT_SOURCE_L2_RPC: 'http://b' })
  expect([none, source]).toEqual([undefined, undefined])
  expect(Object.keys(listen)).toEqual(['http', 'ws', 'engine', 'metrics'])
  expect(listen.engine).toEqual({ host: '127.0.0.1', port: 8551 })
  expect(Buffer.from(jwtSecret?.() ?? []).toString('hex')).toBe(readFileSync(join(dir, 'jwt.hex'), 'utf8'))
})

it('cli/nodeOptions: uses the other half by URL, serves rollup and metrics in mode consensus', () => {
  const path = join(dir, 'given.hex')
  writeFileSync(path, '07'.repeat(32), { mode: 0o600 })
  const given = options('consensus', { ...l1, ...engine, jwt: path, 'l1.max-rps': '20', 'rollup.admin': 'true' })
  expect(given).toMatchObject({ engine: { url: 'http://e:8551' }, isAdminOn: true, l1: { maxRequestsPerSec: 20 } })
  expect(given.jwtSecret?.()).toEqual(new Uint8Array(32).fill(7))
  expect(Object.keys(given.listen)).toEqual(['rollup', 'metrics'])
})

it('cli/nodeOptions: stops at a difference of fork times only with --forks.from-l1', () => {
  expect(options('all', l1)).not.toHaveProperty('forksFromL1')
  expect(options('all', { ...l1, 'forks.from-l1': 'true' }).forksFromL1).toBe(true)
})

it('cli/nodeOptions: keeps the bodies that derivation may read again, by the window of the chain and the slots of L1', () => {
  const window = { ...chain, config: { ...chain.config, sequencingWindowBlocks: 14_400 } }
  const leastOf = (mode: NodeMode, raw: Record<string, string>) => {
    const { values } = readFlagsOfMode(optionFlags, mode, { mode, datadir: dir, 'retain.bodies': '1h', ...raw }, {})
    return nodeOptionsOf(values, window, '1.2.3').rows
  }
  expect(leastOf('all', l1)).toMatchObject({ bodies: { sec: 3_600 }, leastBodies: { sec: 225_000 } })
  expect(leastOf('all', { ...l1, 'l1.slot-seconds': '2' })).toMatchObject({ leastBodies: { sec: 37_500 } })
})

it('cli/nodeOptions: trusts transactions of L1 and sets a slot time only when the flags do', () => {
  expect(Object.keys(options('all', l1).l1 ?? {})).toEqual(['rpcUrls', 'beaconUrls', 'pollMs'])
  const given = options('all', { ...l1, 'l1.trust-transactions': 'true', 'l1.slot-seconds': '2' })
  expect(given.l1).toMatchObject({ trustTransactions: true, slotSec: 2 })
  expect(() => options('all', { ...l1, 'l1.slot-seconds': '0' })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
})

it('cli/nodeOptions: prefers a secret of the environment to the file, which it names; requires both on the command line to agree', () => {
  const path = join(dir, 'made.hex')
  writeFileSync(path, '07'.repeat(32), { mode: 0o600 })
  const env = { BASE_NODE_L2_ENGINE_AUTH_RAW: '09'.repeat(32) }
  const raw = { ...l1, ...engine, jwt: path }
  expect(options('consensus', raw, env).jwtSecret?.()).toEqual(new Uint8Array(32).fill(9))
  expect(unusedSecretFile(readFlagsOfMode(optionFlags, 'consensus', raw, env).values, raw)).toBe(path)
  const both = { ...raw, 'jwt.secret': env.BASE_NODE_L2_ENGINE_AUTH_RAW }
  expect(() => unusedSecretFile(readFlagsOfMode(optionFlags, 'consensus', both, {}).values, both)).toThrow(
    expect.objectContaining({ code: 'JWT_CONFLICT' }),
  )
  expect(unusedSecretFile(readFlagsOfMode(optionFlags, 'consensus', raw, {}).values, raw)).toBeUndefined()
})

it('cli/nodeOptions: gives each network its own folder and secret when the data directory contains {network}', () => {
  const datadir = join(dir, 'of/{network}')
  expect(options('execution', { datadir }).datadir).toBe(join(dir, 'of/base'))
  expect(readFileSync(join(dir, 'of/base/jwt.hex'), 'utf8')).toHaveLength(64)
})

it('cli/nodeOptions: converts --source.max-ahead from blocks to seconds of the chain, of 200 ms from Denim on', () => {
  const source = { 'source.l2.rpc': 'ws://s', 'source.proofs': 'true' }
  const denimMs = 1_793_901_601_000
  expect(options('all', source, {}, denimMs - 2_001).source).toEqual({ url: 'ws://s', hasProofs: true, maxAheadSec: 1_024 })
  expect(options('all', source, {}, denimMs).source).toMatchObject({ maxAheadSec: 103 })
  expect(options('all', { ...source, 'source.max-ahead': '60' }).source).toMatchObject({ maxAheadSec: 60 })
})

it("cli/nodeOptions: follows flashblocks, also under other clients' names; not in a consensus half", () => {
  const env = { CLIENT_FB_WEBSOCKET_URL: 'wss://a/ws,ws://b' }
  expect(options('execution', {}, env).flashblocks).toEqual({ urls: ['wss://a/ws', 'ws://b'] })
  expect(options('execution', {}, { RETH_FB_WEBSOCKET_URL: '' }).flashblocks).toBeUndefined()
  const given = options(
    'all',
    { ...l1, 'flashblocks.max-age': '800ms', 'flashblocks.max-time': '3s', 'pending.fallback': 'finalized' },
    env,
  )
  expect([given.flashblocks, given.pendingFallback]).toMatchObject([{ maxAgeMs: 800, maxTimeMs: 3_000 }, 'finalized'])
  expect(options('consensus', { ...l1, ...engine }, env).flashblocks).toBeUndefined()
  for (const [flag, value] of [
    ['flashblocks.url', 'http://a'],
    ['flashblocks.max-age', '100ms'],
    ['flashblocks.max-time', '61s'],
    ['payload.max-time', '500ms'],
    ['pending.fallback', 'safe'],
  ] as const) {
    expect(() => options('execution', { [flag]: value })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
  }
})

it('cli/nodeOptions: limits the time of a payload in the execution half; 0 is no limit', () => {
  expect(options('execution', { 'payload.max-time': '90s' }).maxPayloadMs).toBe(90_000)
  expect(options('all', { ...l1, 'payload.max-time': '0' }).maxPayloadMs).toBe(0)
  expect(options('consensus', { ...l1, ...engine }).maxPayloadMs).toBeUndefined()
})

it('cli/nodeOptions: sets ports to off, other addresses and host names of servers', () => {
  const raw = { ...l1, 'http.port': 'off', 'metrics.port': 'off', 'rollup.addr': '0.0.0.0', 'rpc.hosts': 'node,execution' }
  expect(options('all', raw).listen).toMatchObject({ rollup: { host: '0.0.0.0', port: 7545, hostNames: ['node', 'execution'] } })
  expect(options('all', raw).listen.http).toBeUndefined()
})

it("cli/nodeOptions: sets namespaces, origins and the local socket, also under other clients' names", () => {
  const env = { RETH_HTTP_API: 'web3,eth,net,txpool', CLIENT_WS_API: 'all' }
  const raw = { 'http.cors': '*', 'ws.origins': 'https://a.example,http://b.example:80', 'ipc.path': '/tmp/x.ipc' }
  const bad = (flag: string, value: string) => () => options('execution', { [flag]: value })
  expect(options('execution', { ...raw, 'ws.origins': 'https://a.example' }, env).listen).toMatchObject({
    http: { api: ['web3', 'eth', 'net', 'txpool'], cors: true },
    ws: { cors: ['https://a.example'] },
    ipc: { path: '/tmp/x.ipc' },
  })
  expect(options('execution', {}, env).listen.ws).not.toHaveProperty('api')
  expect(options('execution', { 'http.api': 'none' }).listen).toMatchObject({ http: { api: [] } })
  expect(bad('http.api', 'eth,nonsense')).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
  expect(bad('ws.origins', raw['ws.origins'])).toThrow(expect.objectContaining({ code: 'BAD_FLAG' })) // browsers omit :80
})

it('cli/nodeOptions: shares one table of rate limits among all servers; keys have their own limits', () => {
  const path = join(dir, 'keys')
  writeFileSync(path, '# ours\nalice-123 500\n\nbob-45678 20 30\n')
  const raw = { 'rpc.rate-limit': '100', 'rpc.api-keys': path, 'rpc.trusted-proxies': '10.0.0.0/8, ::1' }
  const { http, ws } = options('execution', raw).listen
  expect(http?.rateLimit).toMatchObject({
    rate: { unitsPerSec: 100, burstUnits: 1_000 },
    keys: [
      { key: 'alice-123', unitsPerSec: 500, burstUnits: 5_000 },
      { key: 'bob-45678', unitsPerSec: 20, burstUnits: 30 },
    ],
    trustedProxies: ['10.0.0.0/8', '::1'],
  })
  expect(ws?.rateLimit?.table).toBe(http?.rateLimit?.table)
  expect(options('execution', {}).listen.http).not.toHaveProperty('rateLimit')
  writeFileSync(path, 'a secret key\n')
  expect(() => options('execution', raw)).toThrow(
    expect.objectContaining({ code: 'BAD_FLAG', message: expect.not.stringContaining('secret') }),
  )
  for (const wrong of [{ 'rpc.rate-burst': '5' }, { ...raw, 'rpc.trusted-proxies': '10.0.0.0/40' }, { ...raw, 'rpc.api-keys': '/nosuch' }])
    expect(() => options('execution', wrong)).toThrow(expect.objectContaining({ severity: 'fatal' }))
})

it.each<[string, 'all' | 'execution' | 'consensus', Record<string, string>, string, RegExp]>([
  ['no L1 and no node to follow', 'all', {}, 'MISSING_FLAG', /^--l1\.rpc is needed/],
  ['a beacon without L1', 'all', { 'source.l2.rpc': 'http://s', 'l1.beacon': 'http://b' }, 'MISSING_FLAG', /^--l1\.rpc is needed/],
  ['no other half', 'consensus', l1, 'MISSING_FLAG', /^--engine is needed: .*choose --mode all/],
  ['no Engine API', 'execution', { 'engine.port': 'off' }, 'BAD_FLAG', /^--engine\.port: "off"/],
])('cli/nodeOptions: throws a fault that names the missing flag for %s ($3)', (_what, mode, raw, code, says) => {
  expect(() => options(mode, raw)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }))
})

it.each(['all', 'execution'] as const)(
  'cli/nodeOptions: sets the sequencer from --sequencer.http and its older names (mode %s)',
  (mode) => {
    const raw = mode === 'all' ? l1 : {}
    expect(options(mode, { ...raw, 'sequencer.http': 'http://s' }).sequencerUrl).toBe('http://s')
    expect(options(mode, raw, { RETH_SEQUENCER_HTTP: 'https://s/key' }).sequencerUrl).toBe('https://s/key')
    expect(options(mode, raw).sequencerUrl).toBeUndefined()
  },
)

it('cli/nodeOptions: no local page with --metrics.page off, and none without its port', () => {
  expect(options('all', { ...l1, 'metrics.page': 'off' }).hasPage).toBe(false)
  expect(options('all', { ...l1, 'metrics.port': 'off' }).hasPage).toBe(false)
})

it.each([
  ['with --p2p.disable', { 'p2p.disable': true }, undefined],
  ['with --p2p.port off', { 'p2p.port': 'off' }, undefined],
  ["under another client's names", { env: { BASE_NODE_P2P_LISTEN_TCP_PORT: '9333', OP_NODE_P2P_STATIC: 'enr:a, enr:b' } }, 9_333],
] as const)('cli/nodeOptions: peers %s', (_what, { env = {}, ...given }: Record<string, unknown>, expected) => {
  expect(options('all', { ...l1, ...(given as Record<string, string>) }, env as Record<string, string>).p2p?.port).toBe(expected)
})

it.each<[string, NodeMode, Record<string, unknown>, number | undefined]>([
  ['with --p2p.execution off', 'all', { 'p2p.execution': 'off' }, undefined],
  ['with --p2p.execution.port off', 'all', { 'p2p.execution': 'on', 'p2p.execution.port': 'off' }, undefined],
  ['with --p2p.disable', 'all', { 'p2p.disable': true }, undefined],
  ['with --p2p.disable and --p2p.execution on', 'all', { 'p2p.disable': true, 'p2p.execution': 'on' }, 30_303],
  ['in --mode execution', 'execution', {}, 30_303],
  ['in --mode execution with --p2p.execution off', 'execution', { 'p2p.execution': 'off' }, undefined],
  ['in --mode execution with a peer', 'execution', { 'p2p.execution.static': 'enode://a@192.0.2.1:1' }, 30_303],
])('cli/nodeOptions: execution peers %s', (_what, mode, given, expected) => {
  const raw = { ...(mode === 'all' && l1), ...given } as Record<string, string>
  expect(options(mode, raw).executionPeers?.port).toBe(expected)
})

it('cli/nodeOptions: a remote signer requires its account, and excludes a key file (MISSING_FLAG, BAD_FLAG)', () => {
  const remote = { ...l1, 'p2p.signer.endpoint': 'http://signer' }
  expect(() => options('all', remote)).toThrow(expect.objectContaining({ code: 'MISSING_FLAG' }))
  expect(() => options('all', { ...remote, 'p2p.sequencer.key': 'file' })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
})

it('cli/nodeOptions: logs slow calls and traces blocks on request, in every mode', () => {
  const raw = { 'rpc.slow-log': '1500ms', 'trace.otlp': 'http://c:4318', 'trace.sample': '0.5', 'trace.headers': 'x-key=1' }
  const trace = { url: 'http://c:4318', service: 'basalt', sample: 0.5, headers: { 'x-key': '1' } }
  expect(options('all', { ...l1, ...raw })).toMatchObject({ slowCallMs: 1_500, trace })
  const { headers: _headers, ...plain } = trace
  const { 'trace.headers': _given, ...without } = raw
  expect(options('all', { ...l1, ...without }).trace).toEqual(plain)
  expect(options('all', { ...l1, 'trace.sample': '0.5' })).not.toHaveProperty('trace')
})

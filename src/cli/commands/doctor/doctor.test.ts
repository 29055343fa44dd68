import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import { scheduleCalls } from '#chainspec/publishedSchedule'
import { systemClock } from '#lib/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ScriptedServer, serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../../run.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-doctor-'))
afterAll(() => rmSync(dir, { recursive: true }))

const { config } = networkOf('base')
/** Read at each request: a busy machine may take minutes for this file. */
const nowSec = (): number => Math.floor(systemClock.nowMs() / 1_000)
const headNumber = 25_000_000
const quantity = (value: number): string => `0x${value.toString(16)}`
const hashOf = (number: number, branch = 'a'): string => `0x${branch}${number.toString(16).padStart(63, '0')}`

/** L1 of Base with a block every 12 s, every block with blobs. */
function l1Block(label: unknown, { head = headNumber, branch = 'a', lateSec = 0 } = {}) {
  const number = label === 'latest' ? head : Number(label)
  if (number === config.genesis.l1.number)
    return { result: { number: quantity(number), hash: config.genesis.l1.hash, timestamp: quantity(config.genesis.l2TimeSec) } }
  const timestamp = quantity(nowSec() - lateSec - 12 * (headNumber - number))
  return { result: { number: quantity(number), hash: hashOf(number, branch), timestamp, blobGasUsed: '0x20000' } }
}

type Rpc = NonNullable<ScriptedServer['rpc']>
const l1Rpc = (change: Rpc = {}, chain: Parameters<typeof l1Block>[1] = {}): Rpc => ({
  eth_chainId: { result: '0x1' },
  eth_blockNumber: { result: quantity(headNumber) },
  eth_getBlockByNumber: ([label]) => l1Block(label, chain),
  eth_getBlockReceipts: { result: [] },
  eth_call: { result: '0x' },
  ...change,
})
const page = (data: unknown): { body: string } => ({ body: JSON.stringify({ data }) })
const blobsAt = (path: string, isThere: (slot: number) => boolean): { body: string } | undefined => {
  const [, slot] = /\/blobs\/(\d+)$/.exec(path) ?? []
  return slot === undefined ? undefined : page(isThere(Number(slot)) ? ['0x00'] : [])
}
const beaconGenesisSec = 1_606_824_023
const slotOf = (sec: number): number => Math.floor((sec - beaconGenesisSec) / 12)
const beaconPages = {
  '/eth/v1/beacon/genesis': page({ genesis_time: String(beaconGenesisSec) }),
  '/eth/v1/config/spec': page({ SECONDS_PER_SLOT: '12' }),
}
const l2Rpc = (change: Rpc = {}): Rpc => ({
  eth_chainId: { result: '0x2105' },
  eth_getBlockByNumber: () => ({ result: { number: '0x10', hash: hashOf(16), timestamp: quantity(nowSec()) } }),
  ...change,
})

type World = {
  readonly l1?: ScriptedServer | undefined
  readonly secondL1?: ScriptedServer
  readonly beacon?: ScriptedServer | undefined
  /** flags of another node, made of its URL */
  readonly other?: ScriptedServer
  readonly flags?: (url: string) => readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly clockOffMs?: number
}

const portsOf: Readonly<Record<string, readonly string[]>> = {
  all: ['http', 'ws', 'rollup', 'metrics', 'p2p', 'p2p.execution'],
  execution: ['http', 'ws', 'metrics', 'p2p.execution'],
  consensus: ['rollup', 'metrics', 'p2p'],
}
const freePorts = (mode: string): string[] => (portsOf[mode] ?? []).flatMap((name) => [`--${name}.port`, '0'])
const nowhere = 'http://127.0.0.1:65534'

/** Runs `doctor` against scripted endpoints; an undefined one is closed. */
async function examine(world: World) {
  const { l1 = { rpc: l1Rpc() }, beacon = { pages: beaconPages, otherPages: (path) => blobsAt(path, () => true) } } = world
  await using l1Server = await serveNode(l1)
  await using second = await serveNode(world.secondL1 ?? {})
  await using beaconServer = await serveNode(beacon)
  await using other = await serveNode(world.other ?? {})
  const l1Urls = [l1Server.url, ...(world.secondL1 ? [second.url] : [])].join(',')
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + (world.clockOffMs ?? 0) }
  const io = scriptedIo({ clock, env: world.env ?? {} })
  const more = world.flags?.(other.url) ?? []
  const mode = more[0] === '--mode' ? (more[1] ?? '') : 'all'
  const l1Flags = mode === 'execution' ? [] : ['--l1.rpc', l1Urls, '--l1.beacon', beaconServer.url]
  const flags = ['--network', 'base', ...l1Flags, '--datadir', join(dir, 'data'), ...freePorts(mode), ...more]
  const code = await runCli(['doctor', '--url', nowhere, '--metrics-url', nowhere, ...flags], io)
  return { code, ...io.written }
}

it('cli/commands/doctor: finds nothing wrong with healthy endpoints', async () => {
  const { code, out } = await examine({ other: { rpc: l2Rpc() }, flags: (url) => ['--source.l2.rpc', url, '--sequencer.http', url] })
  // limits of the machine that runs the test
  const lines = out
    .trimEnd()
    .split('\n')
    .filter((line) => !/cgroup|processors|limit of|memory of|container|flushed write|to answer/.test(line))
  expect([code, lines]).toEqual([
    0,
    [
      expect.stringMatching(
        /^0 errors, \d warnings; checked: settings, L1 endpoints, beacon API, protocol version, clock, other nodes, ports, data directory, disk, machine$/,
      ),
    ],
  ])
}, 60_000)

const schedule = (times: readonly number[]): string =>
  `0x${[32, times.length, ...times].map((word) => word.toString(16).padStart(64, '0')).join('')}`
const known = [
  0, 1_704_992_401, 1_708_560_000, 1_710_374_401, 1_720_627_201, 1_726_070_401, 1_736_445_601, 0, 1_746_806_401, 1_764_691_201,
  1_779_991_200, 1_782_410_400, 1_790_791_200, 1_793_901_600,
]
const publishing = (times: readonly number[]): ScriptedServer => ({
  rpc: l1Rpc({
    eth_call: ([message]) => ({ result: (message as { data: string }).data === scheduleCalls.getSchedule ? schedule(times) : '0x' }),
  }),
})
const jwt = (mode: number): string => {
  const path = join(dir, `jwt-${mode}.hex`)
  writeFileSync(path, 'ab'.repeat(32), { mode })
  return path
}
const consensus = (url: string): string[] => ['--mode', 'consensus', '--engine', url, '--jwt', jwt(0o600)]
const refusing = (status: number): ScriptedServer => ({ rpc: l1Rpc(), rpcStatus: status })
const error = (code: number): { error: { code: number; message: string } } => ({ error: { code, message: 'x' } })

it.each<[string, World, RegExp]>([
  [
    'a dead L1',
    { flags: () => ['--l1.rpc', nowhere] },
    /^error: +--l1\.rpc 127\.0\.0\.1:65534: the L1 endpoint does not answer: ECONNREFUSED\. check the URL/m,
  ],
  [
    'an L1 of another chain',
    { l1: { rpc: l1Rpc({ eth_chainId: { result: '0xaa36a7' } }) } },
    /^error: +--l1\.rpc \S+: its chain id is 11155111, expected 1\. /m,
  ],
  ['an L1 that refuses every request by its quota', { l1: refusing(429) }, /^error: .*HTTP 429\)\. its quota is used up/m],
  ['an L1 that refuses the key', { l1: refusing(401) }, /^error: .*refuses the key \(HTTP 401\)/m],
  [
    'an L1 that refuses some of many requests',
    { l1: { rpc: l1Rpc({ eth_blockNumber: error(-32_005) }) } },
    /^warning: .*20 of 20 requests at once were refused \(HTTP 429\)\. set --l1\.max-rps/m,
  ],
  ['an L1 that does not move', { l1: { rpc: l1Rpc({}, { lateSec: 600 }) } }, /^warning: .*its head is 10 min old/m],
  [
    'an L1 without the first block of the chain',
    { l1: { rpc: l1Rpc({ eth_getBlockByNumber: ([label]) => (Number(label) < 20_000_000 ? { result: null } : l1Block(label)) }) } },
    /^error: .*L1 block 17481768, from which the chain is derived, is missing/m,
  ],
  [
    'an L1 without old receipts',
    { l1: { rpc: l1Rpc({ eth_getBlockReceipts: error(4_444) }) } },
    /^error: .*receipts of L1 block 17481768 are missing \(error 4444\)/m,
  ],
  [
    'an L1 with another history',
    {
      l1: {
        rpc: l1Rpc({
          eth_getBlockByNumber: ([label]) =>
            Number(label) === 17_481_768 ? { result: { number: label, hash: hashOf(1), timestamp: '0x1' } } : l1Block(label),
        }),
      },
    },
    /^error: .*L1 block 17481768 is 0xa0+1, the rollup config has 0x5c13/m,
  ],
  [
    'L1 endpoints that disagree',
    { secondL1: { rpc: l1Rpc({}, { branch: 'b' }) } },
    /^error: .*its L1 block 24,999,992 differs from that of 127\.0\.0\.1/m,
  ],
  [
    'an L1 endpoint behind the other',
    { secondL1: { rpc: l1Rpc({}, { head: headNumber - 10 }) } },
    /^warning: .*its head is 10 blocks behind the others/m,
  ],
  [
    'a dead beacon API',
    { flags: () => ['--l1.beacon', nowhere] },
    /^error: +--l1\.beacon \S+: the beacon API does not answer: ECONNREFUSED/m,
  ],
  ['a beacon URL of something else', { beacon: {} }, /^error: .*the beacon API does not answer: HTTP 404\. this is no beacon API/m],
  [
    'a beacon API of another chain',
    { beacon: { pages: { ...beaconPages, '/eth/v1/beacon/genesis': page({ genesis_time: '1655733600' }) } } },
    /^error: .*its genesis time is 1655733600, that of L1 \(chain id 1\) is 1606824023/m,
  ],
  [
    'a beacon API without slot time',
    { beacon: { pages: { '/eth/v1/beacon/genesis': beaconPages['/eth/v1/beacon/genesis'] } } },
    /^error: .*no slot time: HTTP 404\. set --l1\.slot-seconds/m,
  ],
  [
    'a beacon API without blobs',
    { beacon: { pages: beaconPages, otherPages: (path) => blobsAt(path, () => false) } },
    /^error: .*it has no blobs of L1 block \d+ \(slot \d+\), \S+ \w+ old\. name a beacon node that serves all blobs/m,
  ],
  [
    'pruned blobs',
    { beacon: { pages: beaconPages, otherPages: (path) => blobsAt(path, (slot) => slot > slotOf(nowSec() - 86_400)) } },
    /^warning: .*it has no blobs of L1 block \d+ \(slot \d+\), 17 d old\. .*add an endpoint that archives blobs/m,
  ],
  ['a dead source', { flags: () => ['--source.l2.rpc', nowhere] }, /^error: +--source\.l2\.rpc \S+: the followed node does not answer/m],
  [
    'a source of another chain',
    { other: { rpc: l2Rpc({ eth_chainId: { result: '0xa' } }) }, flags: (url) => ['--source.l2.rpc', url] },
    /^error: +--source\.l2\.rpc \S+: its chain id is 10, expected 8453/m,
  ],
  [
    'a source with an old head',
    {
      other: {
        rpc: l2Rpc({ eth_getBlockByNumber: { result: { number: '0x1', hash: hashOf(1), timestamp: quantity(nowSec() - 7_200) } } }),
      },
      flags: (url) => ['--source.l2.rpc', url],
    },
    /^warning: +--source\.l2\.rpc \S+: its head is 2 h old/m,
  ],
  [
    'a sequencer of another chain',
    { other: { rpc: l2Rpc({ eth_chainId: { result: '0xa' } }) }, flags: (url) => ['--sequencer.http', url] },
    /^error: +--sequencer\.http \S+: its chain id is 10/m,
  ],
  [
    'a dead publisher of flashblocks',
    { flags: () => ['--flashblocks.url', 'ws://127.0.0.1:65534'] },
    /^warning: +--flashblocks\.url 127\.0\.0\.1:65534: the publisher of flashblocks does not answer/m,
  ],
  ['a dead execution half', { flags: () => consensus(nowhere) }, /^error: +--engine \S+: the execution half does not answer/m],
  [
    'a wrong secret of the Engine API',
    { other: refusing(401), flags: consensus },
    /^error: +--engine \S+: the execution half refuses the secret of the Engine API \(HTTP 401\)\. give both halves the same --jwt file/m,
  ],
  [
    'an execution half of another chain',
    { other: { rpc: l2Rpc({ eth_chainId: { result: '0xa' } }) }, flags: consensus },
    /^error: +--engine \S+: its chain id is 10, expected 8453/m,
  ],
  [
    'a port in use',
    { other: {}, flags: (url) => ['--http.port', new URL(url).port] },
    /^error: +--http\.port 127\.0\.0\.1:\d+: another program uses the port/m,
  ],
  [
    'a port of peers in use',
    { other: {}, flags: (url) => ['--p2p.addr', '127.0.0.1', '--p2p.port', new URL(url).port] },
    /^error: +--p2p\.port 127\.0\.0\.1:\d+: another program uses the port\. stop it \(ss -ltnp shows it\), or set --p2p\.port/m,
  ],
  [
    'a port of execution peers on an address of another machine',
    { flags: () => ['--p2p.execution.addr', '192.0.2.1', '--p2p.execution.port', '30303'] },
    /^error: +--p2p\.execution\.port 192\.0\.2\.1:30303 \(UDP\): 192\.0\.2\.1 is not an address of this machine/m,
  ],
  [
    'an address of another machine',
    { flags: () => ['--ws.addr', '192.0.2.1', '--ws.port', '8546'] },
    /^error: +--ws\.port 192\.0\.2\.1:8546: 192\.0\.2\.1 is not an address of this machine/m,
  ],
  [
    'two servers on one port',
    { flags: () => ['--http.port', '38471', '--ws.port', '38471'] },
    /^error: +--ws\.port 127\.0\.0\.1:38471: another server of the node has the same port/m,
  ],
  [
    'a directory in which nothing can be written',
    { flags: () => ['--datadir', '/proc/none', '--db.min-free', '0'] },
    /^error: +\/proc: (?:a test file could not be written|this user cannot write)/m,
  ],
  [
    'a full disk',
    { flags: () => ['--db.min-free', '9000TB'] },
    /^error: .*free on the disk of the data directory, less than --db\.min-free/m,
  ],
  [
    'a clock that is 40 s behind',
    { clockOffMs: -40_000 },
    /^error: +clock of this machine: it is 40 s behind the clocks of 1 servers\. synchronise it/m,
  ],
  [
    'a fork that this version does not know',
    { l1: publishing([...known, nowSec() + 86_400]) },
    /^error: +ProtocolVersions on L1: fork 14 of the schedule on L1 is unknown to this version and active in 24 h/m,
  ],
  [
    'another time of a fork',
    { l1: publishing([...known.slice(0, -1), 1_793_901_601]) },
    /^warning: +ProtocolVersions on L1: fork denim has another time/m,
  ],
  ['more memory than there is', { flags: () => ['--memory-max', '999TB'] }, /^error: +--memory-max: 999\.0 TB is more than the memory/m],
  [
    'a secret file that others may read',
    { flags: () => ['--mode', 'execution', '--jwt', jwt(0o644)] },
    /^error: +JWT_FILE_BAD: .*others may read it/m,
  ],
  ['a misspelt variable', { env: { BASE_NODE_L1_ETH_RCP: 'http://a' } }, /^warning: +BASE_NODE_L1_ETH_RCP: unknown variable/m],
  ['no beacon API', { flags: () => ['--l1.beacon', ''] }, /^error: +BAD_FLAG: --l1\.beacon/m],
])(
  'cli/commands/doctor: finds %s',
  async (_what, world, said) => {
    const { out, err } = await examine(world)
    expect(out).toMatch(said)
    expect(err).toBe('')
  },
  20_000,
)

it('cli/commands/doctor: repeats why a running node is not ready, with what to do, and checks no settings that it was not given', async () => {
  const body = JSON.stringify({ ready: false, problems: ['derivation is at L1 block 5, 100 s of L1 time behind the L1 head, block 20'] })
  await using node = await serveNode({ pages: { '/readyz': { status: 503, body } } })
  const io = scriptedIo({ clock: systemClock })
  await runCli(['doctor', '--metrics-url', node.url], io)
  expect(io.written.out).toMatch(/^warning: +node at \S+: not ready: derivation is at L1 block 5, .*\. basalt status shows the time left/m)
  expect(io.written.out).toMatch(/checked: running node, machine$/m)
})

it('cli/commands/doctor: with the flags of a running node, asks that node, and does not report its ports', async () => {
  await using node = await serveNode({ pages: { '/readyz': { status: 200, body: JSON.stringify({ ready: true, problems: [] }) } } })
  const io = scriptedIo({ clock: systemClock })
  const { port } = new URL(node.url)
  const ports = ['--http.port', port, '--ws.port', 'off', '--metrics.port', port, '--p2p.execution.port', '0']
  await runCli(['doctor', '--mode', 'execution', '--network', 'base', '--datadir', join(dir, 'data'), ...ports], io)
  expect(io.written.out).toMatch(/checked: settings, running node, /)
  expect(io.written.out).not.toMatch(/another program uses the port/)
}, 20_000)

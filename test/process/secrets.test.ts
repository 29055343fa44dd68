import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startDevnet } from '#devnet/startDevnet'
import { toHex } from '#lib/hex'
import { signed } from '#test/harness/chain/devnetTransactions'
import { type CliProcess, rpcCall, startCli } from '#test/harness/process/cliProcess'
import { eventually } from '../../e2e/nodeProcess.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-secrets-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const jwt = 'c0ffee'.repeat(10).padEnd(64, '5')
const identity = 'beef01'.repeat(10).padEnd(64, '7')
const apiKey = 'api-key-s3cret-0001'
const [typo, foreign] = ['typo-s3cret-0002', 'foreign-s3cret-0003']
/** Identity in the network of a node, in a file. */
const fileIdentity = 'feed02'.repeat(10).padEnd(64, '9')

/** Secret parts of the URL of an endpoint. */
const plantsOf = (name: string): Readonly<Record<'user' | 'password' | 'path' | 'query', string>> => ({
  user: `user-s3cret-${name}`,
  password: `pass-s3cret-${name}`,
  path: `path-s3cret-${name}-01`,
  query: `query-s3cret-${name}`,
})
const endpoints = ['l1', 'beacon', 'source', 'state', 'sequencer', 'flashblocks', 'signer', 'snapshot', 'dead'] as const
const urlOf = (name: string, port: number, scheme = 'http'): string => {
  const { user, password, path, query } = plantsOf(name)
  return `${scheme}://${user}:${password}@127.0.0.1:${port}/${path}?key=${query}`
}
const basic = (name: string): string => btoa(`${plantsOf(name).user}:${plantsOf(name).password}`)

/** Secrets that the files of a data directory hold; they are known after its first start. */
const madeSecrets: string[] = []
const planted = (): readonly string[] => [
  ...[jwt, identity, fileIdentity, apiKey, typo, foreign, ...madeSecrets],
  ...endpoints.flatMap((name) => [...Object.values(plantsOf(name)), basic(name)]),
]
const found = (text: string): readonly string[] => planted().filter((secret) => text.includes(secret))

/** Number of requests to an endpoint after which it fails seldom: a node has to finalize a block. */
const oftenFailing = 60

/** Endpoint that forwards requests to a server; every third one fails, later every 13th, with a text that repeats its URL and its token, as providers do. */
async function serveEndpoint(name: string, target: string | undefined): Promise<{ port: number } & AsyncDisposable> {
  const { path } = plantsOf(name)
  let requests = 0
  const refusal = ({ url, headers }: IncomingMessage): string =>
    `refused: ${url} ${headers.authorization ?? ''} ${Object.values(plantsOf(name)).join(' ')}`
  const server: Server = createServer(async (request, response) => {
    requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const text = refusal(request)
    if (target === undefined || requests % (requests < oftenFailing ? 3 : 13) === 0) {
      const statuses = [200, 401, 429, 500]
      const error = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_000, message: text, data: text }, code: 404, message: text })
      response.writeHead(statuses[requests % statuses.length] ?? 500, { 'content-type': 'application/json' }).end(error)
      return
    }
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const forwarded = await fetch(`${target}${pathname.replace(`/${path}`, '')}`, {
      method: request.method ?? 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body.length > 0 && { body }),
    })
    response.writeHead(forwarded.status, { 'content-type': 'application/json' }).end(Buffer.from(await forwarded.arrayBuffer()))
  })
  server.on('upgrade', (request, socket) => socket.end(`HTTP/1.1 401 ${refusal(request)}\r\nx-reason: ${refusal(request)}\r\n\r\n`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

const logText = ({ output }: CliProcess): string => `${output().stdout}${output().stderr}`

/** Texts of all pages of a port. */
async function pagesOf(url: string): Promise<string> {
  const paths = ['/', '/page/page.js', '/page/page.css', '/page/state', '/metrics', '/healthz', '/readyz', '/none']
  return (await Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).text()))).join('\n')
}

/** Answers and errors of methods of a port, in one text. */
async function answersOf(url: string, methods: readonly (readonly [string, ...unknown[]])[]): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const ask = async ([method, ...params]: readonly [string, ...unknown[]]): Promise<string> =>
    (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).text()
  return (await Promise.all(methods.map(ask))).join('\n')
}

/** Files of profiles of all threads of a node: a sample of each kind, and a snapshot of the heap of each thread. */
async function profilesOf(at: readonly string[]): Promise<string> {
  const profile = async (...args: readonly string[]): Promise<string> => {
    await using command = startCli(['profile', ...args, ...at])
    const { stdout, stderr } = await command.ended()
    return stdout + stderr
  }
  const refusal = await profile('cpu', '--thread', 'none')
  expect(refusal).toMatch(/known: main/)
  const threads = /known: ([\w, -]+)/.exec(refusal)?.[1]?.split(', ') ?? []
  const kinds: (readonly string[])[] = [
    ...['cpu', 'heap'].map((kind) => [kind, '--seconds', '1']),
    ...threads.map((thread) => ['heap', '--snapshot', '--thread', thread]),
  ]
  const written: string[] = []
  for (const kind of kinds) {
    const printed = await profile(...kind, '--json')
    const { file } = JSON.parse(printed) as { file: string }
    written.push(printed, readFileSync(file, 'latin1'))
  }
  return written.join('\n')
}

it('process/secrets: no log at trace level, page, metric, answer, report, profile or snapshot has a secret of URLs, files, variables and keys', async () => {
  await using devnet = await startDevnet({ l1: 'memory' })
  const { urls, facts } = devnet
  const chainDir = join(dir, 'chain')
  await using exported = startCli(['devnet', 'export', chainDir, '--control.port', new URL(urls.control).port])
  expect((await exported.ended()).code).toBe(0)
  await using l1 = await serveEndpoint('l1', urls.l1)
  await using beacon = await serveEndpoint('beacon', urls.l1Beacon)
  await using source = await serveEndpoint('source', urls.rpc)
  await using state = await serveEndpoint('state', urls.rpc)
  await using sequencer = await serveEndpoint('sequencer', undefined)
  await using flashblocks = await serveEndpoint('flashblocks', undefined)
  await using signer = await serveEndpoint('signer', undefined)

  const [jwtFile, keys] = [join(dir, 'jwt.hex'), join(dir, 'keys')]
  writeFileSync(jwtFile, jwt, { mode: 0o600 })
  writeFileSync(keys, `${apiKey} 100000\n`, { mode: 0o600 })
  const env = {
    BASALT_L1_RPC: `${urlOf('l1', l1.port)},${urlOf('dead', 1)}`,
    BASALT_L1_BEACON: `${urlOf('beacon', beacon.port)},${urlOf('dead', 1)}`,
    BASALT_SOURCE_L2_RPC: urlOf('source', source.port),
    BASALT_SEQUENCER_HTTP: urlOf('sequencer', sequencer.port),
    BASALT_FLASHBLOCKS_URL: urlOf('flashblocks', flashblocks.port, 'ws'),
    BASALT_P2P_SIGNER_ENDPOINT: urlOf('signer', signer.port),
    BASALT_P2P_SIGNER_ADDRESS: `0x${'12'.repeat(20)}`,
    BASALT_P2P_KEY_RAW: identity,
    BASALT_L1_RCP: `http://user:${typo}@127.0.0.1:1/`,
    OP_NODE_L1_TRUST_RPC: foreign,
    BASALT_LOG_LEVEL: 'trace',
  }
  const chain = ['--rollup.config', join(chainDir, 'rollup.json'), '--genesis', join(chainDir, 'genesis.json')]
  const ipc = join(dir, 'execution.ipc')
  const http = [
    '--ipc.path',
    ipc,
    '--http.port',
    '0',
    '--ws.port',
    '0',
    '--http.api',
    'all',
    '--rpc.api-keys',
    keys,
    '--rpc.rate-limit',
    '100000',
  ]
  const shared = [...chain, '--metrics.port', '0', '--jwt', jwtFile, '--log.format', 'json']
  const datadir = join(dir, 'execution')
  await using execution = startCli(['node', '--mode', 'execution', ...shared, ...http, '--engine.port', '0', '--datadir', datadir], env)
  const [, engine = ''] = await execution.until(/"engine":"([^"]+)"/)
  const [, rpc = ''] = await execution.until(/"(?:rpc|http)":"(http[^"]+)"/)
  const [, executionMetrics = ''] = await execution.until(/"metrics":"([^"]+)"/)
  const peers = ['--p2p.enable', '--p2p.addr', '127.0.0.1', '--p2p.port', '0', '--p2p.no-discovery']
  const own = ['--engine', engine, '--rollup.port', '0', '--rollup.admin', '--datadir', join(dir, 'consensus'), ...peers]
  await using consensus = startCli(
    ['node', '--mode', 'consensus', ...shared, ...own, '--l1.chain-config', join(chainDir, 'l1-chain-config.json')],
    env,
  )
  const [, rollup = ''] = await consensus.until(/"rollup":"([^"]+)"/)
  const [, consensusMetrics = ''] = await consensus.until(/"metrics":"([^"]+)"/)

  const progress = async (): Promise<boolean | string> => {
    const finalized = (await rpcCall(rpc, 'eth_getBlockByNumber', ['finalized', false])) as { number: string } | null
    return Number(finalized?.number ?? 0) > 0 || `finalized: ${finalized?.number}`
  }
  await eventually('a finalized block', 300_000, progress, 500)

  const [account] = devnet.accounts
  const { raw } = signed(account?.privateKey ?? '0x', 0n, { chainId: BigInt(facts.chainId), value: 1n })
  const texts: Record<string, string> = {
    'answers of execution': await answersOf(rpc, [
      ['rpc.discover'],
      ['rpc_modules'],
      ['web3_clientVersion'],
      ['eth_sendRawTransaction', toHex(raw)],
      ['eth_sendRawTransactionSync', toHex(raw)],
      ['base_transactionStatus', `0x${'12'.repeat(32)}`],
      ['admin_nodeInfo'],
      ['eth_config'],
      [apiKey],
    ]),
    'answer to an API key': await answersOf(`${rpc}/${apiKey}`, [['eth_blockNumber'], ['no_method']]),
    'answers of the engine port': await answersOf(engine, [['engine_exchangeCapabilities', []]]),
    'answers of consensus': await answersOf(rollup, [
      ...(
        ['rpc.discover', 'optimism_syncStatus', 'optimism_rollupConfig', 'optimism_version', 'opp2p_self', 'opp2p_peerStats'] as const
      ).map((name) => [name] as const),
      ['opp2p_peers', false],
      ['admin_setLogLevel', 'trace'],
      ['admin_sequencerActive'],
    ]),
    'pages of execution': await pagesOf(executionMetrics),
    'pages of consensus': await pagesOf(consensusMetrics),
    'pages of the rollup port': await pagesOf(rollup),
    'profiles of execution': await profilesOf(['--ipc.path', ipc]),
    'profiles of consensus': await profilesOf(['--url', rollup]),
  }

  const { hash } = (await rpcCall(urls.rpc, 'eth_getBlockByNumber', ['finalized', false])) as { hash: string }
  const identityFile = join(dir, 'identity')
  writeFileSync(identityFile, fileIdentity, { mode: 0o600 })
  const begin = ['--start', 'anchored', '--start.block-hash', hash, '--datadir', join(dir, 'anchored'), '--log.format', 'json']
  const ports = ['http', 'ws', 'rollup', 'metrics'].flatMap((name) => [`--${name}.port`, '0'])
  const { BASALT_P2P_KEY_RAW: _raw, ...others } = env
  await using anchored = startCli(
    [
      'node',
      ...chain,
      ...begin,
      ...ports,
      '--rollup.admin',
      ...peers,
      '--p2p.key',
      identityFile,
      '--l1.chain-config',
      join(chainDir, 'l1-chain-config.json'),
    ],
    { ...others, BASALT_SOURCE_STATE: `${urlOf('state', state.port)},${urlOf('dead', 1)}`, BASALT_SNAPSHOT: urlOf('snapshot', 1) },
  )
  const [, anchoredRollup = ''] = await anchored.until(/"rollup":"([^"]+)"/)
  const [, anchoredMetrics = ''] = await anchored.until(/"metrics":"([^"]+)"/)
  texts['pages of a node with a partial state'] = await pagesOf(anchoredMetrics)
  texts['profiles of a node with a partial state'] = await profilesOf(['--url', anchoredRollup])

  const read = ['--url', rpc, '--metrics-url', `${consensusMetrics}/metrics`]
  const commands: readonly (readonly string[])[] = [
    ['status', ...read],
    ['status', ...read, '--json'],
    ['top', ...read, '--json'],
    ['da', ...read],
    ['block', 'latest', '--url', rpc],
    ['config', 'show', ...chain],
    ['config', 'check', ...chain, '--datadir', datadir],
    [
      'doctor',
      ...chain,
      '--datadir',
      join(dir, 'other'),
      '--http.port',
      '0',
      '--ws.port',
      '0',
      '--metrics.port',
      '0',
      '--rollup.port',
      '0',
    ],
    ['snapshot', 'create', ...chain, '--datadir', datadir, '--out', join(dir, 'snapshot')],
    ['snapshot', 'list', join(dir, 'snapshot')],
    ['snapshot', 'verify', urlOf('dead', 1), ...chain],
    ['snapshot', 'import', urlOf('dead', 1), ...chain, '--datadir', join(dir, 'imported'), '--start.block-hash', hash],
    ['db', 'stats', '--datadir', datadir],
    ['version', '--check', '--release.index', urlOf('dead', 1)],
  ]
  for (const line of commands) {
    await using command = startCli(line, env)
    await command.ended()
    texts[line.slice(0, 2).join(' ')] = logText(command)
  }
  const pem = readFileSync(join(datadir, 'snapshot-key.pem'), 'utf8')
  madeSecrets.push(pem.split('\n')[1] ?? '')
  const nodes = { execution, consensus, anchored }
  for (const [name, node] of Object.entries(nodes)) {
    node.child.kill('SIGTERM')
    await node.ended()
    texts[`log of ${name}`] = logText(node)
  }

  expect(pem).toContain('PRIVATE KEY')
  // the judges are not blind: the endpoints were used, and their failures were logged
  expect(texts['log of consensus']).toMatch(/L1 endpoint failed|ENDPOINT/)
  expect(texts['answers of execution']).toContain('error')
  for (const [name, text] of Object.entries(texts)) expect([name, text.length > 0]).toEqual([name, true])
  expect(Object.entries(texts).flatMap(([name, text]) => found(text).map((secret) => [name, secret]))).toEqual([])
}, 600_000)

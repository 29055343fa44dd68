import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { startProxy, type TcpProxy } from '#test/harness/process/proxy'
import { type DevnetProcess, startDevnetProcess } from '../devnet/process.ts'
import { jwtFlags } from '../halves/labels.ts'
import { createNodeProcess, type NodeProcess } from '../nodeProcess.ts'
import { type L1Proxy, startL1Proxy } from './l1Proxy.ts'

/** A devnet, and a node in two processes that follows its L1 and its sequencer. */
export interface World extends AsyncDisposable {
  readonly folder: string
  readonly devnet: DevnetProcess
  readonly l1: L1Proxy
  /** proxy before the sequencer, whose blocks the node follows */
  readonly source: TcpProxy
  /** proxy before the sequencer's port for peers */
  readonly peer: TcpProxy
  readonly execution: NodeProcess
  readonly consensus: NodeProcess
  /** variables of the next start of the halves */
  readonly env: Record<string, string>
  /** Stops and starts a half with the present variables. */
  restart(half: 'execution' | 'consensus'): Promise<void>
  /** path of a file; the main thread of the consensus half is busy while it exists */
  readonly busyFile: string
  readonly proofsDir: string
}

/** A contract of L1 that publishes forks; the proxy answers for it. */
const protocolVersions = '0x00000000000000000000000000000000000000f0'

async function exportChain(devnet: DevnetProcess, folder: string): Promise<readonly string[]> {
  const control = new URL(devnet.started.urls.control).port
  await using cli = startCli(['devnet', 'export', folder, '--control.port', control])
  const { code, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`devnet export: ${stderr}`)
  const rollup = join(folder, 'rollup.json')
  writeFileSync(rollup, JSON.stringify({ ...JSON.parse(readFileSync(rollup, 'utf8')), protocol_versions_address: protocolVersions }))
  return ['--rollup.config', rollup, '--genesis', join(folder, 'genesis.json')]
}

export async function createWorld(folder: string): Promise<World> {
  await using starting = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const devnet = starting.use(await startDevnetProcess('memory', ['--block-time', '1s', '--nodes', '2']))
  const chain = await exportChain(devnet, join(folder, 'chain'))
  const { l1, l1Beacon, rpc, flashblocks = '' } = devnet.started.urls
  const l1Proxy = starting.use(await startL1Proxy(l1))
  const self = (await rpcCall(devnet.started.urls.rollup, 'opp2p_self')) as {
    readonly peerID: string
    readonly addresses: readonly string[]
  }
  const peer = starting.use(await startProxy(Number(/\/tcp\/(\d+)/.exec(self.addresses.join())?.[1])))
  const source = starting.use(await startProxy(Number(new URL(rpc).port)))
  const [busyFile, proofsDir] = [join(folder, 'busy'), join(folder, 'proofs')]
  const env: Record<string, string> = {
    BUSY_FILE: busyFile,
    NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'busy.ts')).href}`,
  }

  const jwt = jwtFlags(folder)
  const recording = ['--proofs-history', '--proofs.path', proofsDir]
  const limits = ['--rpc.rate-limit', '200', '--rpc.rate-burst', '400', '--rpc.workers', '1']
  const feeds = ['--flashblocks.url', flashblocks, '--sequencer.http', rpc]
  const execution = starting.use(
    await createNodeProcess({
      name: 'execution',
      folder: join(folder, 'execution'),
      args: [...chain, '--mode', 'execution', ...jwt, ...recording, ...limits, ...feeds],
      serves: ['http', 'engine', 'metrics'],
      env,
    }),
  )
  const inputs = [
    '--l1.rpc',
    l1Proxy.url,
    '--l1.beacon',
    l1Beacon,
    '--l1.poll-interval',
    '500',
    '--source.l2.rpc',
    `http://127.0.0.1:${source.port}`,
  ]
  const peers = [
    '--p2p.addr',
    '127.0.0.1',
    '--p2p.port',
    '0',
    '--p2p.no-discovery',
    '--p2p.static',
    `/ip4/127.0.0.1/tcp/${peer.port}/p2p/${self.peerID}`,
  ]
  const l1Config = ['--l1.chain-config', join(folder, 'chain/l1-chain-config.json')]
  const consensus = starting.use(
    await createNodeProcess({
      name: 'consensus',
      folder: join(folder, 'consensus'),
      args: [...chain, '--mode', 'consensus', '--engine', execution.url('engine'), ...jwt, ...inputs, ...peers, ...l1Config],
      serves: ['rollup', 'metrics'],
      env,
    }),
  )
  const halves = { execution, consensus }
  for (const half of Object.values(halves)) {
    half.spawn()
    await half.up()
  }
  const parts = starting.move()
  return {
    folder,
    devnet,
    l1: l1Proxy,
    source,
    peer,
    ...halves,
    env,
    async restart(name) {
      await halves[name].stop()
      halves[name].spawn()
      await halves[name].up()
    },
    busyFile,
    proofsDir,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { rpcCall } from '#test/harness/process/cliProcess'
import { payloadOfHeader } from '../../src/engine/payloadHeader.ts'
import { encodePayload } from '../../src/engine/payloadJson.ts'
import { methodVersionsAt } from '../../src/engine/versions.ts'
import { fromHex } from '../../src/lib/hex.ts'
import { signJwt } from '../../src/lib/jwt.ts'
import type { Payload } from '../../src/types/payload.ts'
import { freePort } from '../devnet/process.ts'
import { eventually, type NodeProcess } from '../nodeProcess.ts'
import { follows } from './cases.ts'
import { forkSteps, type PeerChain, startPeerChain } from './chain.ts'
import { startOtherClient } from './otherClient.ts'
import { startOurSequencer, startOurs } from './ours.ts'
import { hashFrom, type Joining, metricAt, type Participant } from './participant.ts'
import { type OpNode, startTheirs } from './theirs.ts'

/** A binary of op-geth. `isOld`: it knows no fork after Holocene and speaks eth/68, later ones eth/69. */
export type Geth = { readonly name: string; readonly path: string; readonly isOld: boolean }

/** Returns the programs in a folder whose name begins with `op-geth`. */
export function gethsIn(folder: string): readonly Geth[] {
  const files = readdirSync(folder).filter((name) => name.startsWith('op-geth') && statSync(join(folder, name)).isFile())
  return files.map((name) => {
    const path = join(folder, name)
    return { name, path, isOld: !execFileSync(path, ['--help'], { encoding: 'utf8' }).includes('override.jovian') }
  })
}

type RunningGeth = AsyncDisposable & {
  readonly enode: string
  readonly url: string
  readonly p2pPort: number
  /** Calls the Engine API. */
  engine(method: string, params: readonly unknown[]): Promise<unknown>
  tail(): string
}

/** Starts op-geth with the chain's genesis and without discovery. */
async function startGeth({ name, path }: Geth, chain: PeerChain): Promise<RunningGeth> {
  await using parts = new AsyncDisposableStack()
  const datadir = join(chain.folder, name)
  const logFile = join(chain.folder, `${name}.log`)
  execFileSync(path, ['init', '--datadir', datadir, '--state.scheme', 'hash', chain.files.theirGenesis], { stdio: 'pipe' })
  const [p2pPort, httpPort, enginePort] = [await freePort(), await freePort(), await freePort()]
  const url = `http://127.0.0.1:${httpPort}`
  const args = [
    ...[
      '--datadir',
      datadir,
      '--state.scheme',
      'hash',
      '--syncmode',
      'full',
      '--gcmode',
      'archive',
      '--networkid',
      String(chain.config.l2ChainId),
    ],
    ...['--port', String(p2pPort), '--nodiscover', '--nat', 'extip:127.0.0.1', '--netrestrict', '127.0.0.0/8', '--ipcdisable'],
    ...['--http', '--http.port', String(httpPort), '--http.api', 'eth,net,admin,debug'],
    ...[
      '--authrpc.port',
      String(enginePort),
      '--authrpc.jwtsecret',
      chain.files.jwt,
      '--rollup.disabletxpoolgossip',
      '--snapshot=false',
      '--verbosity',
      '3',
    ],
    ...['--log.vmodule', 'eth/*=4,p2p=4,eth/downloader=4'],
  ]
  const { tail } = parts.use(
    await startOtherClient({ name, path, args, cwd: chain.folder, logFile, answers: async () => (await hashFrom(url, 0)) !== undefined }),
  )
  const { enode } = (await rpcCall(url, 'admin_nodeInfo')) as { readonly enode: string }
  const secret = fromHex(`0x${readFileSync(chain.files.jwt, 'utf8').trim()}`)
  const kept = parts.move()
  return {
    ...{ url, p2pPort, tail },
    // without discovery the URL names port 0 of it
    enode: enode.replace(/\?.*$/, ''),
    async engine(method, params): Promise<unknown> {
      const response = await fetch(`http://127.0.0.1:${enginePort}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${signJwt(secret, Math.floor(Date.now() / 1_000))}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as { readonly result?: unknown; readonly error?: { readonly message: string } }
      if (error) throw new Error(`${method}: ${error.message}`)
      return result
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Blocks that are due when the chain starts: more than are fetched by number. */
const ageSec = 340
const leastBlocks = 320
const maxMs = 90_000

const executionPeers = {
  host: '127.0.0.1',
  port: 0,
  advertisedHost: '127.0.0.1',
  hasDiscovery: false,
  bootnodes: [],
  staticPeers: [],
  trustedPeers: [],
  maxPeers: 10,
}

/** Blocks go from a node of ours to op-geth over the execution network, and from op-geth to another node of ours, which has no other source of them. */
export async function executionNetwork(folder: string, geth: Geth): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, geth.isOld ? forkSteps.holocene : forkSteps.jovian, { ageSec }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer', { executionPeers }))
  const { execution, urls } = sequencer
  if (execution === undefined) throw new Error('a sequencer without execution')
  await eventually('the sequencer has the blocks that are due', maxMs, async () => (await sequencer.unsafeHead()).number >= leastBlocks)
  const theirs = parts.use(await startGeth(geth, chain))

  // to op-geth: a payload whose parents it lacks, then forkchoice
  const { enode } = (await rpcCall(urls.http ?? '', 'admin_nodeInfo')) as { readonly enode: string }
  await rpcCall(theirs.url, 'admin_addPeer', [enode])
  await eventually(
    'op-geth is connected',
    30_000,
    async () => ((await rpcCall(theirs.url, 'net_peerCount')) as string) === '0x1' || theirs.tail(),
  )
  const taken = await sequencer.unsafeHead()
  const stop = new AbortController()
  const driving = drive(chain, execution, theirs, taken.number, stop.signal)
  parts.defer(async () => {
    stop.abort()
    await driving
  })
  await eventually(
    `op-geth has block ${taken.number}`,
    maxMs,
    async () => (await hashFrom(theirs.url, taken.number)) === taken.hash || `it has not\n${theirs.tail()}`,
    500,
  )

  // from op-geth: the gossip of the sequencer names the head, op-geth alone has the blocks below it
  const [peer] = (await rpcCall(urls.http ?? '', 'admin_peers')) as readonly {
    readonly name: string
    readonly protocols: { readonly eth: { readonly version: number } }
  }[]
  const port = await freePort()
  const ours = parts.use(
    await startOurs(
      chain,
      'verifier',
      { staticPeers: [sequencer.address], hasDiscovery: false },
      {
        args: [
          ...['--p2p.execution', 'on', '--p2p.execution.addr', '127.0.0.1', '--p2p.execution.port', String(port)],
          ...['--p2p.execution.no-discovery', '--p2p.execution.static', theirs.enode],
        ],
      },
    ),
  )
  await eventually(
    `our node has block ${taken.number}`,
    maxMs,
    async () => (await ours.hashAt(taken.number)) === taken.hash || `it has not\n${ours.tail()}`,
    500,
  )
  const filled = await ours.metric('basalt_execution_p2p_filled_blocks_total')
  if (filled < taken.number / 2) throw new Error(`${filled} of ${taken.number} blocks came over the execution network\n${ours.tail()}`)
  return `${taken.number} blocks to ${peer?.name} over eth/${peer?.protocols.eth.version}, ${filled} blocks back`
}

type Apart = Participant & { readonly engine: NodeProcess }

/** Starts an op-node that requests no blocks by number, with an execution half of ours. */
export const opNodeApart =
  (opNode: OpNode) =>
  (chain: PeerChain, name: string, joining: Joining): Promise<Apart> =>
    startTheirs(opNode, chain, name, 'verifier', joining, ['--syncmode.req-resp=false'])

/** A node of two processes joins late: its execution half, ours, gets the blocks below the head that its consensus half names. */
export async function lateExecutionHalf(
  folder: string,
  start: (chain: PeerChain, name: string, joining: Joining) => Promise<Apart>,
): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, forkSteps.jovian, { ageSec }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer', { executionPeers }))
  await eventually('the sequencer has the blocks that are due', maxMs, async () => (await sequencer.unsafeHead()).number >= leastBlocks)
  const { enode } = (await rpcCall(sequencer.urls.http ?? '', 'admin_nodeInfo')) as { readonly enode: string }
  const { number } = await sequencer.unsafeHead()
  const joining = { staticPeers: [sequencer.address], hasDiscovery: false, executionPeers: [enode] }
  const late = parts.use(await start(chain, 'late', joining))
  const fromMs = performance.now()
  await follows(late, sequencer, number, maxMs)
  const filled = await metricAt(`${late.engine.url('metrics')}/metrics`, 'basalt_execution_p2p_filled_blocks_total')
  if (filled < number / 2) throw new Error(`${filled} of ${number} blocks came over the execution network\n${late.engine.tail()}`)
  return `${number} blocks missing, ${filled} blocks over the execution network, at the head after ${((performance.now() - fromMs) / 1_000).toFixed(0)} s`
}

type Execution = NonNullable<Awaited<ReturnType<typeof startOurSequencer>>['execution']>

/** Gives op-geth the blocks from a number on, as a consensus client does, until the signal is aborted. */
async function drive(chain: PeerChain, execution: Execution, theirs: RunningGeth, from: number, signal: AbortSignal): Promise<void> {
  const genesis = chain.config.genesis.l2.hash
  for (let next = from; !signal.aborted; ) {
    const payloads = payloadsFrom(execution, next)
    for (const payload of payloads) {
      const { newPayload, forkchoiceUpdated } = methodVersionsAt(chain.config.schedule, payload.timestamp)
      const beside = newPayload >= 3 ? [[], payload.parentBeaconBlockRoot] : []
      await theirs.engine(`engine_newPayloadV${newPayload}`, [encodePayload(payload), ...beside, ...(newPayload >= 4 ? [[]] : [])])
      const heads = { headBlockHash: payload.blockHash, safeBlockHash: genesis, finalizedBlockHash: genesis }
      try {
        await theirs.engine(`engine_forkchoiceUpdatedV${forkchoiceUpdated}`, [heads, null])
      } catch (error) {
        // while its sync moves to the head before; a later block names the next one
        if (!String(error).includes('beacon syncer reorging')) throw error
      }
    }
    next += payloads.length
    await delay(200)
  }
}

/** Returns the canonical blocks from a number on. */
function payloadsFrom(execution: Execution, number: number): readonly Payload[] {
  using view = execution.view()
  const payloads: Payload[] = []
  for (let at = number; at <= view.heads.latest.number; at++) {
    const hash = view.canonicalHash(at)
    const found = hash && view.block(hash)
    if (!found) break
    payloads.push(payloadOfHeader(found.block.header, found.hash, found.block.transactions))
  }
  return payloads
}

// Nodes with their execution, each a process: the sequencer, nodes that are connected with it, nodes that are connected with those. Measures the time from
// a block's seal until a subscriber of each node has it as the head. Transfers for 8 Mgas a block are sent to the sequencer. Eight nodes that execute need
// more than two cores. In a mesh of eight of which three execute, the others validate and forward blocks, as a node does before it executes them.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { timeOf } from '#chainspec/blockTime'
import { devnetAccounts, testMnemonic } from '#devnet/accounts'
import { forksUpTo } from '#devnet/forkSchedule'
import { fromHex } from '#lib/hex'
import { type Log, type LogFields, logTo } from '#lib/log'
import { addressOfKey } from '#lib/secp256k1'
import { addressFromBytes } from '#types/ids'
import { type PeerChain, startPeerChain } from '../../e2e/p2p/chain.ts'
import { startOurSequencer, startOurs } from '../../e2e/p2p/ours.ts'
import type { Participant } from '../../e2e/p2p/participant.ts'
import { sleep } from '../devnet/process.ts'
import { distribution, type Row } from '../format.ts'
import type { LoadOrder } from './loadWorker.ts'
import { ownUrl } from './ownUrl.ts'
import type { RelayOrder } from './relayWorker.ts'

const [perSec, gasOfTransfer] = [5, 21_000]
/** Transfers a second that fill blocks with 8 Mgas. */
const rate = Math.round((8_000_000 / gasOfTransfer) * perSec)
const accounts = 100
const warmUpSec = 10
const eight = [[0], [0], [1], [1, 2], [2], [1, 2], [1]]
/** `parents`: connections of each node after the sequencer, by number. `execute`: nodes that execute, by number; absent: all do. */
type Topology = { readonly name: string; readonly parents: readonly (readonly number[])[]; readonly execute?: readonly number[] }
const topologies: readonly Topology[] = [
  { name: 'three nodes that execute', parents: [[0], [1]] },
  { name: 'eight nodes of which three execute', parents: eight, execute: [1, 6] },
  { name: 'eight nodes that execute', parents: eight },
]

/** Times at which blocks were sealed, ms since 1970, by number. */
type Seals = Map<number, { readonly atMs: number; readonly transactions: number }>

/** Returns a log that notes the sequencer's seals. */
function logOfSeals({ config }: PeerChain, seals: Seals): Log {
  const write = (_: string, message: string, { number, txs, lateMs }: LogFields = {}): void => {
    if (message === 'block sealed')
      seals.set(Number(number), { atMs: timeOf(config, Number(number)) + Number(lateMs), transactions: Number(txs) })
  }
  const log: Log = logTo(write, () => log)
  return log
}

/** Starts a thread, so that its work does not delay the sequencer. */
function startThread(file: string, workerData: unknown): Worker & AsyncDisposable {
  const worker = new Worker(new URL(file, import.meta.url), { workerData })
  return Object.assign(worker, { [Symbol.asyncDispose]: async () => void (await worker.terminate()) })
}

async function askThread<T>(worker: Worker, question: unknown = 'go on'): Promise<T> {
  const answered = once(worker, 'message')
  worker.postMessage(question)
  return (await answered)[0] as T
}

export async function heads(blocks: number): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const topology of topologies) rows.push(...(await measure(topology, blocks)))
  return rows
}

async function measure({ name: size, parents, execute }: Topology, blocks: number): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-gossip-'))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rmSync(folder, { recursive: true, force: true }))
  const chain = parts.use(await startPeerChain(folder, forksUpTo('denim', 2), { blockTimeSec: 2, accounts }))
  const seals: Seals = new Map()
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer', { log: logOfSeals(chain, seals) }))
  const relays: RelayOrder = { config: chain.config, signer: addressFromBytes(addressOfKey(fromHex(`0x${chain.sequencerKey}`))) }
  const relayThread = parts.use(startThread('./relayWorker.ts', relays))
  const addresses = [sequencer.address]
  const verifiers: { readonly node: Participant; readonly url: string; readonly hops: number }[] = []
  for (const [i, of] of parents.entries()) {
    const staticPeers = of.map((parent) => addresses[parent] ?? '')
    if (execute && !execute.includes(i + 1)) {
      addresses.push(await askThread<string>(relayThread, staticPeers))
      continue
    }
    const node = parts.use(await startOurs(chain, `node-${i + 1}`, { staticPeers, hasDiscovery: false }, { serves: ['ws'] }))
    addresses.push(node.address)
    verifiers.push({ node, url: ownUrl(node.node, 'ws'), hops: of.includes(0) ? 1 : 2 })
  }
  const watcher = parts.use(
    startThread(
      './headWatcher.ts',
      verifiers.map(({ url }) => url),
    ),
  )
  const order: LoadOrder = {
    ...{ url: sequencer.urls.http ?? '', chainId: chain.config.l2ChainId, perSec: rate, count: rate * (warmUpSec + blocks / perSec + 1) },
    accounts: devnetAccounts(testMnemonic, accounts).accounts,
  }
  const loader = parts.use(startThread('./loadWorker.ts', order))
  await once(loader, 'message')
  loader.postMessage('start')
  await sleep(warmUpSec * 1_000)
  const from = Math.max(...seals.keys())
  const cpuBefore = await Promise.all(verifiers.map(({ node }) => node.metric('basalt_p2p_thread_cpu_seconds')))
  const fromMs = performance.now()
  await sleep((blocks * 1_000) / perSec)
  const seconds = (performance.now() - fromMs) / 1_000
  const to = Math.max(...seals.keys())
  const cpuAfter = await Promise.all(verifiers.map(({ node }) => node.metric('basalt_p2p_thread_cpu_seconds')))
  const { refused } = await askThread<{ readonly refused: number }>(loader)
  await sleep(2_000)
  const headsMs = await askThread<readonly ReadonlyMap<number, number>[]>(watcher)

  const numbers = Array.from({ length: to - from }, (_, i) => from + 1 + i).filter((number) => seals.has(number))
  const transactions = numbers.map((number) => seals.get(number)?.transactions ?? 0)
  const latencies = (hops: number): readonly number[] =>
    verifiers.flatMap((verifier, i) =>
      verifier.hops === hops ? numbers.map((number) => (headsMs[i]?.get(number) ?? Number.NaN) - (seals.get(number)?.atMs ?? 0)) : [],
    )
  const rowOf = (hops: 1 | 2): Row => {
    const all = latencies(hops)
    const arrived = all.filter((ms) => !Number.isNaN(ms))
    const name = `seal to head at a subscriber, ${hops === 1 ? 'one hop' : 'two hops'}, ${size}`
    const one = distribution(name, 'ms', arrived)
    return {
      ...one,
      facts: {
        ...one.facts,
        blocks: numbers.length,
        transactions: Math.round(mean(transactions)),
        lost: all.length - arrived.length,
        refused,
      },
    }
  }
  return [
    rowOf(1),
    rowOf(2),
    distribution(
      `processor time of a p2p thread, ${size}`,
      '% of a core',
      cpuAfter.map((after, i) => (100 * (after - (cpuBefore[i] ?? 0))) / seconds),
    ),
  ]
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

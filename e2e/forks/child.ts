// A node in a process, to be killed: a sequencer with its batcher, or a verifier that follows it and derives its blocks from L1.
// Its argument is the JSON of `ChildSpec`. It writes `ready` once its RPC responds, and stops at SIGTERM.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { systemClock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import { silentLog } from '#lib/log'
import { startNode } from '#node/node'
import { createBatcherPart } from '../../src/devnet/batcherPart.ts'
import { type DevnetChainFiles, parseChainFiles } from '../../src/devnet/devnetChain.ts'
import { sequencerOptions, verifierOptions } from '../../src/devnet/nodes.ts'
import type { DevnetAccount } from '../../src/devnet/ports.ts'

export type ChildSpec = {
  readonly role: 'sequencer' | 'verifier'
  readonly datadir: string
  /** JSON of `DevnetChainFiles` */
  readonly chainFile: string
  readonly l1Url: string
  readonly slotSec: number
  readonly ports: { readonly rpc: number; readonly ws: number; readonly verifier: number; readonly verifierWs: number }
  readonly batcher: DevnetAccount
}

const spec = JSON.parse(process.argv[2] ?? '') as ChildSpec
const { role, datadir, chainFile, l1Url, slotSec, ports } = spec
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())

const chain = parseChainFiles(JSON.parse(readFileSync(chainFile, 'utf8')) as DevnetChainFiles)
const l1 = { kind: 'memory', rpcUrl: l1Url, beaconUrl: l1Url, slotSec } as const
const basics = { config: chain.config, genesis: chain.genesis, version: 'child', l1, ports, hasFlashblocks: false }
const source = { rpc: `http://127.0.0.1:${ports.rpc}`, ws: `ws://127.0.0.1:${ports.ws}`, flashblocks: undefined }
const deps = { clock: systemClock, random: Math.random, fetch, log: silentLog }
await using kzg = new KzgThread()
await using node = await startNode(
  { ...deps, kzg },
  role === 'sequencer' ? sequencerOptions(basics, datadir) : verifierOptions(basics, datadir, source),
)
process.stdout.write('ready\n')
const ended = [node.stopped, once(stop.signal, 'abort')]
const { execution } = node
if (role === 'sequencer' && execution) {
  const batcher = createBatcherPart(
    { ...deps, l1, sequencer: node, execution, kzg, registry: new Registry() },
    { config: chain.config, account: spec.batcher, carrier: 'calldata' },
  )
  ended.push(batcher.run(stop.signal))
}
await Promise.race(ended)
stop.abort()

// The measured process: begins a chain with a block that proposals on L1 vouch for, then runs a node, and prints its URLs.
import { networkOf, proposalContractsOf } from '#chainspec/networks'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { startAnchored } from '#node/anchoredStart'
import { startNode } from '#node/node'
import { createSnapshotTrust } from '#node/snapshotTrust'
import type { Hash } from '#types/ids'
import { anyPort, nodeOptions } from '../../test/harness/process/nodeOptions.ts'
import { readStateWorld } from '../state/world.ts'

export type ChildOptions = {
  readonly worldDir: string
  readonly datadir: string
  readonly sourceUrl: string
  readonly l1: { readonly urls: readonly string[]; readonly chainId: number; readonly genesis: Hash; readonly nowMs: number }
}

const { worldDir, datadir, sourceUrl, l1 } = JSON.parse(process.argv[2] ?? '') as ChildOptions
const { config } = readStateWorld(worldDir)
const io = { fetch, clock: systemClock, random: Math.random, log: silentLog }
const contracts = proposalContractsOf(networkOf('base').config)
const onL1 = { ...config, l1ChainId: l1.chainId, genesis: { ...config.genesis, l1: { number: 0, hash: l1.genesis } } }
// the clock of the generated L1
const clock = { ...systemClock, nowMs: (): number => l1.nowMs }
const trust = createSnapshotTrust(
  { ...io, clock },
  { config: onL1, required: 'attested', l1Urls: l1.urls, l2Url: sourceUrl, ...(contracts && { contracts }) },
)
const begun = await startAnchored(
  { ...io, signal: new AbortController().signal },
  { config, datadir, trust, stateUrls: [sourceUrl], l2Url: sourceUrl },
)
const node = await startNode(
  io,
  nodeOptions(
    {
      datadir,
      mode: 'all',
      stateUrls: [sourceUrl],
      fill: { bytesPerSec: 0 },
      source: { url: sourceUrl, hasProofs: false, maxAheadSec: 3_600, pollMs: 50 },
      listen: { http: anyPort, metrics: anyPort },
    },
    { config, genesis: undefined as never },
  ),
)
process.stdout.write(`${JSON.stringify({ begun, urls: node.urls })}\n`)
process.once('SIGTERM', () => void node[Symbol.asyncDispose]().then(() => process.exit(0)))

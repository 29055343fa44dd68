// npm run test:p2p -- --peers FOLDER [--minutes N] [--only TEXT] [--keep]: nodes of ours and of other clients in one network on loopback. FOLDER has binaries
// whose names begin with op-node, base-consensus, op-geth and devp2p; without them only cases of our own nodes run, and the output says so.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { discoveryVersions } from '../src/executionPeers/discovery/discovery.ts'
import { baseConsensusIn, baseConsensusMesh } from './p2p/baseConsensus.ts'
import { type Client, mesh, outsideOfMesh } from './p2p/cases.ts'
import { discoverySuite, suitesIn } from './p2p/discoverySuite.ts'
import { executionNetwork, gethsIn, lateExecutionHalf, opNodeApart } from './p2p/executionClients.ts'
import { missingBlocks, partition } from './p2p/gaps.ts'
import { startOursApart } from './p2p/ours.ts'
import { opNodesIn } from './p2p/theirs.ts'

const { values } = parseArgs({
  options: {
    peers: { type: 'string', default: '' },
    minutes: { type: 'string', default: '0.5' },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
})
const maxPartitionMs = 240_000
const ms = Number(values.minutes) * 60_000
const hasFolder = values.peers !== '' && existsSync(values.peers)
const found = hasFolder ? opNodesIn(values.peers) : []
const baseClients = hasFolder ? baseConsensusIn(values.peers) : []
const geths = hasFolder ? gethsIn(values.peers) : []
const place = values.peers === '' ? 'a folder: --peers FOLDER names it' : values.peers
if (geths.length === 0) console.log('no op-geth in the folder of --peers; the execution network is tested without it')
if (found.length === 0) console.log(`no op-node in ${place}; tested without it`)
if (baseClients.length === 0) console.log(`no base-consensus in ${place}; tested without it`)

type Case = readonly [string, (folder: string) => Promise<string>]
const meshOf = (first: Client, verifiers: readonly Client[]) => (folder: string) => mesh(folder, first, verifiers, ms)
const partitionMs = Math.min(maxPartitionMs, ms)
const interop = found.flatMap((theirs): Case[] => {
  const others = found.filter((other) => other !== theirs)
  return [
    [`${theirs.name} sequences`, meshOf(theirs, [theirs, 'ours', 'ours'])],
    [`ours sequences for ${theirs.name}`, meshOf('ours', [theirs, 'ours'])],
    ...others.map((other): Case => [`${theirs.name} sequences for ${other.name}`, meshOf(theirs, [other, 'ours'])]),
    [`${theirs.name} with a narrow mesh`, (folder: string) => outsideOfMesh(folder, theirs)],
    // old versions name no head whose ancestors are missing
    ...(theirs.isOld
      ? []
      : [[`${theirs.name} late with our execution half`, (folder: string) => lateExecutionHalf(folder, opNodeApart(theirs))] as const]),
  ]
})
const base = baseClients.flatMap((theirs): Case[] => [
  [`${theirs.name} sequences`, (folder) => baseConsensusMesh(folder, theirs, 'theirs', ms)],
  [`ours sequences for ${theirs.name}`, (folder) => baseConsensusMesh(folder, theirs, 'ours', ms)],
])
const execution = geths.map((geth): Case => [`execution network with ${geth.name}`, (folder) => executionNetwork(folder, geth)])
const suites = (hasFolder ? suitesIn(values.peers) : []).flatMap((name) =>
  discoveryVersions.map(
    (version): Case => [`discovery ${version} judged by ${name}`, () => discoverySuite(join(values.peers, name), version)],
  ),
)
const cases: readonly Case[] = [
  ['missing blocks', missingBlocks],
  ['late in two processes', (folder) => lateExecutionHalf(folder, startOursApart)],
  ['a partition', (folder) => partition(folder, partitionMs)],
  ...interop,
  ...base,
  ...execution,
  ...suites,
]

let [passed, failed] = [0, 0]
for (const [name, run] of cases) {
  if (!name.includes(values.only)) continue
  const folder = mkdtempSync(join(tmpdir(), 'basalt-p2p-'))
  const beganMs = performance.now()
  const outcome = await run(folder).then(
    (text) => {
      passed++
      return text
    },
    (error: unknown) => {
      failed++
      return `FAILED: ${inspect(error)} (${folder})`
    },
  )
  if (!values.keep && !outcome.startsWith('FAILED')) rmSync(folder, { recursive: true, force: true })
  console.log(`${name}  ${((performance.now() - beganMs) / 1_000).toFixed(0)} s  ${outcome}`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

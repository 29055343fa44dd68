import { setTimeout as delay } from 'node:timers/promises'
import { startProxy } from '#test/harness/process/proxy'
import { numberAt } from '../../src/chainspec/blockTime.ts'
import { forksUpTo } from '../../src/devnet/forkSchedule.ts'
import { eventually } from '../nodeProcess.ts'
import { allowedLag, follows } from './cases.ts'
import { startPeerChain } from './chain.ts'
import { startOurSequencer, startOurs } from './ours.ts'
import type { Participant } from './participant.ts'

/** Blocks of 200 ms that are missing at the start of a node, and the time within which it is at the head. L1 has none of the blocks. */
const missing = { blocks: 2_000, maxMs: 30_000 }
/** Age of the chain at the start of the first nodes: the last of the missing blocks are built while these get the others. */
const oldSec = 330
const youngSec = 6
/** Time in which a network forms, on a machine with other work. */
const formMs = 180_000

/** Returns the seconds until a node is at the sequencer's head. */
async function catchesUp(node: Participant, sequencer: Participant): Promise<number> {
  const fromMs = performance.now()
  await follows(node, sequencer, (await sequencer.unsafeHead()).number, missing.maxMs)
  return (performance.now() - fromMs) / 1_000
}

interface Network extends AsyncDisposable {
  readonly sequencer: Participant
  /** Starts a further node, which reaches the three others through proxies. */
  startLate(): Promise<Participant>
  setMode(kind: 'cut' | 'pass'): void
}

/** Starts a sequencer and two nodes that have all its blocks, at least `least`. */
async function startNetwork(folder: string, ageSec: number, least: number): Promise<Network> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, forksUpTo('denim', 2), { ageSec, blockTimeSec: 2 }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer'))
  const isAt = (number: number): Promise<number> =>
    eventually(`the sequencer is at the due block, at least ${number}`, 300_000, async () => {
      const [head, due] = [(await sequencer.unsafeHead()).number, numberAt(chain.config, Date.now()) ?? 0]
      return (head >= number && head > due - 10) || `at ${head} of ${due}`
    })
  await isAt(1)
  const joining = { staticPeers: [sequencer.address], hasDiscovery: false }
  const nodes = [parts.use(await startOurs(chain, 'ours-1', joining)), parts.use(await startOurs(chain, 'ours-2', joining))]
  for (const node of nodes) await follows(node, sequencer, 1, formMs)
  await isAt(least)

  const links = await Promise.all([sequencer, ...nodes].map(({ port }) => startProxy(port)))
  for (const link of links) parts.use(link)
  const staticPeers = [sequencer, ...nodes].map(({ peerId }, i) => `/ip4/127.0.0.1/tcp/${links[i]?.port}/p2p/${peerId}`)
  const kept = parts.move()
  return {
    sequencer,
    startLate: async () => kept.use(await startOurs(chain, 'late', { staticPeers, hasDiscovery: false })),
    setMode: (kind) => {
      for (const link of links) link.setMode({ kind })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** A node that starts with 2,000 missing blocks is at the head within 30 s. */
export async function missingBlocks(folder: string): Promise<string> {
  await using network = await startNetwork(folder, oldSec, missing.blocks)
  const late = await network.startLate()
  const { number } = await network.sequencer.unsafeHead()
  const seconds = await catchesUp(late, network.sequencer)
  return `${number} blocks missing: ${seconds.toFixed(1)} s`
}

/** A node that is cut off from all peers for a while is at the head within 30 s. */
export async function partition(folder: string, ms: number): Promise<string> {
  await using network = await startNetwork(folder, youngSec, 1)
  const { sequencer } = network
  const late = await network.startLate()
  await follows(late, sequencer, 1, formMs)
  network.setMode('cut')
  const { number: from } = await late.unsafeHead()
  await delay(ms)
  const { number: to } = await sequencer.unsafeHead()
  if ((await late.unsafeHead()).number > from + allowedLag) throw new Error('blocks passed the partition')
  network.setMode('pass')
  const seconds = await catchesUp(late, sequencer)
  return `${to - from} blocks missing after ${Math.round(ms / 1_000)} s: ${seconds.toFixed(1)} s`
}

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openChain } from '#database/openChain'
import { initProofs } from '#database/proofs/changeRecorded'
import { u64FromBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { openForeignProofsReader } from '#store/proofsTables'
import { proofsTables } from '#store/tables'
import { extendChain, makeChain, startChain } from '#test/harness/process/builtChain'
import type { ChainDistance } from '#types/chainDistance'
import { chainBlocks } from './settings.ts'

const deps = { clock: systemClock, signal: new AbortController().signal, onProgress(): void {} }

/** Makes a chain with all values, and with the trie nodes of few blocks. */
export async function chainWithoutNodes(datadir: string): Promise<void> {
  await makeChain(datadir, 'kept', chainBlocks, { retention: { history: 'all', proofs: { sec: 20 * 600 } } })
}

/** Makes a chain with all values and nodes, whose proofs are a region that was extended downwards and one that was recorded upwards. */
export async function recordedChain(datadir: string): Promise<void> {
  const retention = { history: 'all', proofs: 'all' } as const
  await makeChain(datadir, 'kept', chainBlocks / 2, { retention })
  await completeProofs(datadir)
  {
    await using node = await startChain(datadir, 'kept', () => {}, { retention })
    await extendChain(node, chainBlocks, 'kept', () => {})
  }
  await completeProofs(datadir)
}

/** Records what is missing of a chain, without a kill. */
export async function completeProofs(datadir: string, path = join(datadir, 'proofs')): Promise<void> {
  await initProofs(deps, { datadir, path }, 0)
}

/** Does what a node that records has left: computes gaps, and removes blocks outside of its window. */
export async function settleProofs(datadir: string, window: ChainDistance): Promise<void> {
  await using chain = await openChain(datadir)
  await using kv = openProofs(join(datadir, 'proofs'))
  const recorder = new Recorder({ kv, chain, clock: systemClock }, window)
  for (let idleSteps = 0; idleSteps < 2; ) {
    const { isBehind, pruned } = recorder.step(50)
    idleSteps = isBehind || pruned > 0 ? 0 : idleSteps + 1
  }
}

/** Makes the proofs of a chain anew beside the recorded ones, without a kill. */
export async function madeAnew(datadir: string): Promise<string> {
  const path = join(datadir, 'anew', 'proofs')
  await completeProofs(datadir, path)
  return path
}

/** Returns a digest of all recorded blocks, or of those of a window: their hashes, values and nodes. */
export async function digestOf(dir: string, window?: { readonly earliest: number; readonly latest: number }): Promise<string> {
  await using source = openForeignProofsReader(dir)
  using reader = source.snapshot()
  const digest = createHash('sha256')
  for (const { id } of [proofsTables.canonical, proofsTables.values, proofsTables.nodeHistory]) {
    for (const { key, value } of reader.range(id, {})) {
      const number = u64FromBytes(key.subarray(-8))
      // a window begins with a state: the block's own changes are not part of it
      const first = (window?.earliest ?? 0) + (id === proofsTables.canonical.id ? 0 : 1)
      if (window === undefined || (number >= first && number <= window.latest)) digest.update(`${id}`).update(key).update(value)
    }
  }
  return digest.digest('hex')
}

import type { L1Label, L1Source } from '#consensus/ports'
import { createPipeline } from '#derive/pipeline'
import type { L1Block } from '#derive/ports'
import type { RecordedChain } from '#devnet/recordedChain'
import { equalBytes } from '#lib/bytes'
import { silentLog } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import { payloadsOf } from '../chain/l2Blocks.ts'
import { type Recording, recordedWorld } from '../derive/recordedDerivation.ts'
import type { Execute } from '../engine/engine.ts'
import { l1BlockOfJson } from '../l1/blocks.ts'
import { createHost, type Host } from './execution.ts'

export type RecordedHost = Host & {
  readonly recording: Recording
  /** Number of the L2 safe head after each L1 block. */
  readonly safeHeads: readonly number[]
  readonly l1: L1Source & { readonly tip: L1Ref }
  /** Shows L1 blocks up to this number. `safe` is 3 blocks behind the last one, `finalized` 5. */
  reveal(l1Number: number): void
}

/** Executes attributes by looking up the recorded block with the same transactions. */
function recordedExecution({ payloads }: Recording): Execute {
  return (parent, { timestamp, transactions }) => {
    const payload = payloads[parent.blockNumber + 1]
    const isSame =
      payload?.parentHash === parent.blockHash &&
      payload.timestamp === timestamp &&
      payload.transactions.length === transactions.length &&
      payload.transactions.every((raw, at) => equalBytes(raw, transactions[at] as Uint8Array))
    return isSame ? payload : undefined
  }
}

/** A recorded L1 in memory, the pipeline, the driver, and the recorded L2 blocks in place of execution. */
export function createRecordedHost(chain: RecordedChain): RecordedHost {
  const { config, blocks, safeHeads } = chain
  const recording: Recording = { config, payloads: payloadsOf(blocks), l1: chain.l1.blocks.map(l1BlockOfJson), blobs: chain.l1.blobs }
  const { blobs: blobsOf } = recordedWorld(recording, () => 'invalid')
  let visible = recording.l1.length - 1
  const seen = (number: number): L1Block | undefined => (number <= visible ? recording.l1[number] : undefined)
  const lag: Record<L1Label, number> = { latest: 0, safe: 3, finalized: 5 }
  const l1 = {
    get tip() {
      return (recording.l1[visible] as L1Block).ref
    },
    head: async (label: L1Label) => seen(visible - lag[label])?.ref,
    ref: async (number: number) => seen(number)?.ref,
    block: async (at: number | string) => (typeof at === 'number' ? seen(at) : recording.l1.find(({ ref }) => ref.hash === at)),
    blobs: async (_block: L1Ref, hashes: Parameters<typeof blobsOf>[0]) => blobsOf(hashes),
  }
  const [genesis] = recording.payloads
  if (!genesis) throw new Error('no genesis')
  const host = createHost({
    l1,
    config: recording.config,
    genesis,
    execute: recordedExecution(recording),
    createPipeline: (start) => createPipeline(recording.config, start, silentLog),
  })
  return {
    ...host,
    recording,
    safeHeads,
    l1,
    reveal: (l1Number) => {
      visible = l1Number
    },
  }
}

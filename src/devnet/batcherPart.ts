import type { Registry } from 'prom-client'
import { Batcher } from '#batcher/batcher'
import { batcherMetrics } from '#batcher/metrics'
import type { BatcherL2 } from '#batcher/ports'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SafeBlock } from '#derive/ports'
import type { Clock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import type { KzgThread } from '#lib/kzg/kzgThread'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import type { Node } from '#node/node'
import { parseAddress } from '#types/ids'
import { signTransaction } from '#types/signing'
import type { DataAvailability } from './choices.ts'
import { createL1Client } from './l1Client.ts'
import type { DevnetAccount, DevnetL1 } from './ports.ts'

export type BatcherPartDeps = {
  readonly l1: Pick<DevnetL1, 'rpcUrl' | 'slotSec'>
  readonly sequencer: Pick<Node, 'status'>
  readonly execution: NonNullable<Node['execution']>
  readonly kzg: KzgThread
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  readonly registry: Registry
}

/** Number of batcher polls per slot. */
const looksPerSlot = 4
/** Number of L1 blocks for which a channel is open: one keeps the safe head some seconds behind. */
const channelL1Blocks = 1
/** number of slots after which a pending transaction gets higher fees */
const patienceSlots = 4

/** Returns the sequencing node as the batcher reads it, in this process. */
function batcherL2(
  { sequencer, execution }: Pick<BatcherPartDeps, 'sequencer' | 'execution'>,
  config: Pick<RollupConfig, 'genesis'>,
): BatcherL2 {
  return {
    async status(): ReturnType<BatcherL2['status']> {
      const { unsafe, safe } = execution.published.heads
      return { unsafe, safe, currentL1: sequencer.status()?.origin }
    },
    async block(number): Promise<SafeBlock | undefined> {
      using view = execution.view()
      const hash = view.canonicalHash(number)
      const found = hash && view.block(hash)
      if (!found) return undefined
      const { transactions } = found.block
      return { ref: l2RefOf(config, payloadOfBlock(found.block, hash)), transactions }
    },
    throttle: (limits) => execution.pool.limitBlocks(limits ?? { maxTransactionBytes: undefined, maxBlockBytes: undefined }),
  }
}

/** Creates the batcher of a devnet, with its own key and its own connection to L1. */
export function createBatcherPart(
  deps: BatcherPartDeps,
  { config, account, carrier }: { readonly config: RollupConfig; readonly account: DevnetAccount; readonly carrier: DataAvailability },
): Batcher {
  const { l1, clock, random, kzg } = deps
  const slotMs = l1.slotSec * 1_000
  const privateKey = fromHex(account.privateKey)
  return new Batcher(
    {
      l1: createL1Client({ fetch: deps.fetch, clock }, { url: l1.rpcUrl, account: parseAddress(account.address) }),
      l2: batcherL2(deps, config),
      prover: kzg,
      signer: (unsigned) => signTransaction(unsigned, privateKey),
      clock,
      random,
      log: deps.log.child('batcher'),
      metrics: batcherMetrics.register(deps.registry),
    },
    { config, carrier, maxChannelL1Blocks: channelL1Blocks, pollMs: slotMs / looksPerSlot, resubmitMs: patienceSlots * slotMs },
  )
}

import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { L1Label, L1Source } from '#consensus/ports'
import { createPipeline } from '#derive/pipeline'
import type { L1Block } from '#derive/ports'
import { silentLog } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import { type Hash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { type DeriveWorld, genesisTimeSec, stubBlock } from '../derive/world.ts'
import { payloadOf } from '../engine/engine.ts'
import { createHost, type Host } from './execution.ts'

/** Driver on the L1 of a small world, with the real pipeline. `safe` is 3 blocks behind the L1 head, `finalized` 5. */
export function createDerivedHost(world: DeriveWorld): Host & { readonly l1: L1Source & { readonly tip: L1Ref } } {
  const { config } = world
  const lag: Record<L1Label, number> = { latest: 1, safe: 4, finalized: 6 }
  const l1 = {
    get tip() {
      return (world.l1.at(-1) as L1Block).ref
    },
    head: async (label: L1Label) => world.l1[world.l1.length - lag[label]]?.ref,
    ref: async (number: number) => world.l1[number]?.ref,
    block: async (at: number | string) => (typeof at === 'number' ? world.l1[at] : world.l1.find(({ ref }) => ref.hash === at)),
    blobs: async (_block: L1Ref, hashes: readonly Hash[]) => {
      const found = hashes.map((hash) => world.blobs.get(hash))
      return found.every((blob) => blob !== undefined) ? found : 'missing'
    },
  }
  const genesis: Payload = {
    ...payloadOf({ number: -1, hash: zeroHash }, { timestamp: genesisTimeSec, transactions: [] }),
    blockHash: config.genesis.l2.hash,
  }
  const host = createHost({
    l1,
    config,
    genesis,
    execute: (parent, attributes) => {
      const block = stubBlock(config, { ref: l2RefOf(config, parent), systemConfig: systemConfigOf(config, parent) }, attributes)
      return block === 'invalid' ? undefined : block.payload
    },
    createPipeline: (start) => createPipeline(config, start, silentLog),
  })
  return { ...host, l1 }
}

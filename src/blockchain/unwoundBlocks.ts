import { executionFault } from '#block/faults'
import type { Kv } from '#store/ports'
import type { Block } from '#types/block'
import type { Hash } from '#types/ids'
import * as store from './chainStore.ts'
import type { HeadRecord } from './heads/headRecord.ts'

/** Iterates over the blocks that the next commit removes from the store, oldest first. @throws Fault CHAIN_STORE_DAMAGED (fatal) */
export function* unwoundBlocks(kv: Kv, { base, committed }: HeadRecord): Iterable<Block & { readonly hash: Hash }> {
  if (base.number === committed.number) return
  using reader = kv.snapshot()
  for (let number = base.number + 1; number <= committed.number; number++) {
    const hash = store.readCanonicalHash(reader, number)
    const block = hash && store.readBlock(reader, { number, hash })
    if (block === undefined || hash === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${number}` })
    yield { ...block, hash }
  }
}

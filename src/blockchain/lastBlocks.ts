import { executionFault } from '#block/faults'
import type { Kv } from '#store/ports'
import type { Block } from '#types/block'
import type { Hash } from '#types/ids'
import * as store from './chainStore.ts'

/** Iterates over the last blocks of the store, oldest first. @param head of the store @throws Fault CHAIN_STORE_DAMAGED (fatal) */
export function* lastBlocks(kv: Kv, head: number, count: number): Iterable<Block & { readonly hash: Hash }> {
  if (count === 0) return
  using reader = kv.snapshot()
  for (let number = head - count + 1; number <= head; number++) {
    const hash = store.readCanonicalHash(reader, number)
    const block = hash && store.readBlock(reader, { number, hash })
    if (block === undefined || hash === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${number}` })
    yield { ...block, hash }
  }
}

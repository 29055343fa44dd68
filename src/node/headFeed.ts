import type { ExecutedBlock } from '#execution/executedBlock'
import type { HeadRecord } from '#execution/headRecord'
import type { HeadBlock, HeadFeed } from '#rpc/ports'

/** Blocks of a record that were not canonical in the record before it, oldest first. Pure. */
export function newBlocks(before: HeadRecord, now: HeadRecord): readonly HeadBlock[] {
  const told = new Set(before.overlays.map(({ hash }) => hash))
  // a block is in the overlays of one record at least before it is committed, and what is committed leaves them
  return now.overlays.filter(({ hash }) => !told.has(hash)).map(headOf)
}

/** Its transactions are unpacked when somebody asks for them: to most heads nobody listens. */
const headOf = (executed: ExecutedBlock): HeadBlock => ({
  hash: executed.hash,
  get block(): HeadBlock['block'] {
    const { header, transactions } = executed
    return { header, transactions }
  },
})

/** The feed, and what is to be called with each record right after it can be read. */
export type PublishedFeed = HeadFeed & { publish(record: HeadRecord): void }

/** Tells subscribers what each published record makes canonical; the first one published is where the feed begins. */
export function createHeadFeed(): PublishedFeed {
  const listeners = new Set<(blocks: readonly HeadBlock[]) => void>()
  let last: HeadRecord | undefined
  return {
    subscribe(listener): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    publish(record): void {
      const before = last
      last = record
      if (before === undefined || listeners.size === 0) return
      const blocks = newBlocks(before, record)
      if (blocks.length === 0) return
      for (const listener of listeners) listener(blocks)
    },
  }
}

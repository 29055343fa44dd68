import type { BlockResult } from '#block/execution/executeBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { Log } from '#lib/log'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { BlockTree } from '../blockTree.ts'
import type { BlockJournal } from './blockJournal.ts'
import type { BlockLink } from './journalRecords.ts'

type WakeDeps = {
  readonly journal: BlockJournal
  readonly tree: BlockTree
  readonly log: Log
  /** executes a block on its parent and keeps it if it is valid */
  readonly execute: (parent: BlockId, payload: Payload) => BlockResult
}

/** Executes a journalled block of an earlier run and its ancestors, if they are not in the tree. */
export function wakeBlocks(deps: WakeDeps, tip: Hash): void {
  const branch = deps.journal.sleepingTo(tip, (hash) => deps.tree.get(hash)?.header.parentHash)
  for (const block of branch) if (!wakeOne(deps, block)) return
}

function wakeOne({ journal, log, execute }: WakeDeps, { number, hash, parentHash }: BlockLink): boolean {
  try {
    const result = execute({ hash: parentHash, number: number - 1 }, payloadOfBlock(journal.read(hash), hash))
    if (result.kind === 'executed') return true
    log.error('journalled block failed re-execution', { number, hash, reason: result.reason })
  } catch (error) {
    log.warn('journalled block not executed', { number, hash, error })
  } finally {
    journal.rouse(hash)
  }
  return false
}

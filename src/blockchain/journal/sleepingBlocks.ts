import type { BlockResult } from '#block/execution/executeBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { BlockTree } from '../blockTree.ts'
import type { ExecutionView } from '../view/chainView.ts'
import type { BlockJournal } from './blockJournal.ts'
import type { BlockLink } from './journalRecords.ts'

type SleepDeps = {
  readonly journal: BlockJournal
  readonly tree: BlockTree
  readonly log: Log
  readonly view: () => ExecutionView
  /** executes a block on its parent and keeps it if it is valid */
  readonly execute: (parent: BlockId, payload: Payload) => BlockResult
}

/** Blocks of the journal that are neither in the tree nor in the store, and are executed when a caller needs them. */
export class SleepingBlocks {
  readonly #deps: SleepDeps

  constructor(deps: SleepDeps) {
    this.#deps = deps
  }

  /**
   * Executes the sleeping blocks of a branch, oldest first, up to the first that fails. That block and those above it are forgotten, unless a later try may
   * succeed: a branch that is larger than the tree loses its first blocks while the last ones are executed, so a caller has to offer these again.
   */
  wake(tip: Hash): void {
    const branch = this.#branchTo(tip)
    for (const [at, block] of branch.entries()) {
      const outcome = this.#wakeOne(block)
      if (outcome === 'failed') for (const { hash } of branch.slice(at)) this.#deps.journal.forget(hash)
      if (outcome !== 'executed') return
    }
  }

  /** Returns a block that sleeps, or has sleeping ancestors, on a known branch, without executing any of them. @throws as `BlockJournal.read` */
  read(view: ExecutionView, hash: Hash): Block | undefined {
    const { journal, tree } = this.#deps
    const [oldest] = this.#branchTo(hash)
    return oldest && view.branch(oldest.parentHash) && (tree.get(hash) ?? journal.read(hash))
  }

  #branchTo(tip: Hash): readonly BlockLink[] {
    const { journal, tree, view: viewOf } = this.#deps
    if (!journal.hasSleeping) return []
    using view = viewOf()
    const parentOf = (hash: Hash): Hash | undefined => tree.get(hash)?.header.parentHash
    return journal.sleepingTo(tip, parentOf, (hash) => view.known.committed(hash) !== undefined)
  }

  #wakeOne({ number, hash, parentHash }: BlockLink): 'executed' | 'failed' | 'not now' {
    const { journal, log, execute } = this.#deps
    try {
      const result = execute({ hash: parentHash, number: number - 1 }, payloadOfBlock(journal.read(hash), hash))
      if (result.kind === 'executed') return 'executed'
      log.error('journalled block failed re-execution', { number, hash, reason: result.reason })
      return 'failed'
    } catch (error) {
      log.warn('journalled block not executed', { number, hash, error })
      return isFault(error) && error.severity === 'retry' ? 'not now' : 'failed'
    }
  }
}

import type { Clock } from '#lib/clock'
import { enterFetched, type FetchedState } from '#state/fetchedState'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import type { Branch } from '../branch.ts'
import type { StoredHeads } from '../chainStore.ts'
import { type PruneEvent, Pruner } from '../pruning/pruner.ts'
import { commitBranch, fillOlderLogs } from './commit.ts'

/** Maximum time per transaction for indexing the logs of blocks that an earlier version wrote. */
const olderLogsMs = 10

/** Target duration of a transaction that another thread writes, and bound of the other work of that thread after it. */
export const threadSliceMs = 2_000

/** Contents of one transaction that moves the chain. */
export type BranchRequest = {
  /** head of the store before the transaction */
  readonly committed: BlockId
  readonly branch: Branch
  readonly heads: StoredHeads
  /** of the call that set the heads */
  readonly sequence: number
}

/** Contents of one transaction; or parts of the state that it adds to a partial one, without a change of the chain. */
export type CommitRequest = BranchRequest | { readonly fetched: readonly FetchedState[] }

/** End of a request: the duration of its transaction, or why nothing was written. */
export type CommitOutcome = { readonly ms: number } | { readonly error: unknown }

/** Writer of transactions, one after another. */
export interface Committer {
  /** Begins a request, after the outcome of the previous one was taken. */
  begin(request: CommitRequest): void
  /** Takes the outcome of the request. @param wait blocks this thread until there is one. @returns undefined while the request is in progress */
  take(wait: boolean): CommitOutcome | undefined
  /** Sets the function to call in a later turn of the event loop when an outcome has arrived that was not taken. */
  onOutcome(run: () => void): void
  /** Begins to remove older states between requests. @param onEvent called after each step, in a turn of its own or within `take`. @returns ends it */
  prune(retention: Retention, onEvent: (event: PruneEvent) => void): Disposable
}

/** Writes a request in one transaction. @throws Fault DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal) */
export function commitRows(kv: Kv, clock: Clock, request: CommitRequest): void {
  kv.write((tx) => {
    if ('fetched' in request) {
      for (const parts of request.fetched) enterFetched(tx, parts)
      return
    }
    const { committed, branch, heads, sequence } = request
    commitBranch(tx, committed, branch, heads, sequence)
    const untilMs = clock.elapsedMs() + olderLogsMs
    fillOlderLogs(tx, () => clock.elapsedMs() < untilMs)
  })
}

/** Creates a committer that writes in this thread: a request ends before `begin` returns. */
export function createCommitter(kv: Kv, clock: Clock): Committer {
  let outcome: CommitOutcome | undefined
  let pruner: Pruner | undefined
  return {
    begin(request): void {
      const startMs = clock.elapsedMs()
      try {
        commitRows(kv, clock, request)
        outcome = { ms: clock.elapsedMs() - startMs }
        pruner?.committed(outcome.ms)
      } catch (error) {
        outcome = { error }
      }
    },
    take(): CommitOutcome | undefined {
      const taken = outcome
      outcome = undefined
      return taken
    },
    onOutcome(): void {},
    prune(retention, onEvent): Disposable {
      pruner = new Pruner({ kv, clock, retention, onEvent })
      return pruner
    },
  }
}

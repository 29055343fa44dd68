import { MissingState } from '#evm/ports'
import type { PoolOutcome } from '#types/pooledTransaction'
import type { Served } from './executionServer.ts'
import type { ServedPool } from './wire/txPoolCalls.ts'

/** Most parts that one transaction lacks: L1's prices in the first block, the account of its sender, a code. */
const maxParts = 16
/** Longest wait for a part. */
const withinMs = 8_000

/**
 * Returns a pool over a partial state (ADR 0043): an account that the check of a transaction lacks is fetched, and the transaction is added again. Transactions are added
 * one by one, since the pool changes nothing before it has read the account of one.
 */
export function completedPool(pool: ServedPool['pool'], complete: Served['complete']): ServedPool['pool'] {
  async function addOne(raw: Uint8Array): Promise<readonly PoolOutcome[]> {
    for (let parts = 0; ; parts++) {
      try {
        return await pool.add([raw])
      } catch (error) {
        if (!(error instanceof MissingState) || parts === maxParts) throw error
        await complete(error.wanted, withinMs)
      }
    }
  }
  return {
    async add(raws): Promise<readonly PoolOutcome[]> {
      const outcomes: PoolOutcome[] = []
      for (const raw of raws) outcomes.push(...(await addOne(raw)))
      return outcomes
    },
    get: (hash) => pool.get(hash),
    nextNonce: (sender) => pool.nextNonce(sender),
    size: () => pool.size(),
    content: (sender) => pool.content(sender),
    remove: (what) => pool.remove(what),
  }
}

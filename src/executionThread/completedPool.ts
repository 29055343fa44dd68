import { MissingState } from '#evm/ports'
import { transferError } from '#lib/errorTransfer'
import type { Served } from './executionServer.ts'
import type { AddResult } from './wire/protocol.ts'
import type { ServedPool } from './wire/txPoolCalls.ts'

/** Most parts that one transaction lacks: L1's prices in the first block, the account of its sender, a code. */
const maxParts = 16
/** Longest wait for a part. */
const withinMs = 8_000

/**
 * Returns a pool over a partial state (ADR 0043): an account that the check of a transaction lacks is fetched, and the transaction is added again. Each transaction is
 * added by itself, since the pool changes nothing before it has read the account of one, and none waits for, or fails with, another one.
 */
export function completedPool(pool: ServedPool['pool'], complete: Served['complete']): ServedPool['pool'] {
  async function addOne(raw: Uint8Array): Promise<readonly AddResult[]> {
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
    async add(raws): Promise<readonly AddResult[]> {
      const failed = (error: unknown): AddResult[] => [{ kind: 'failed', error: transferError(error) }]
      return (await Promise.all(raws.map((raw) => addOne(raw).catch(failed)))).flat()
    },
    get: (hash) => pool.get(hash),
    nextNonce: (sender) => pool.nextNonce(sender),
    size: () => pool.size(),
    content: (sender) => pool.content(sender),
    remove: (what) => pool.remove(what),
  }
}

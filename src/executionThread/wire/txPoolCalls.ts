import { restoreError } from '#lib/errorTransfer'
import { packBytes, unpackBytes } from '#lib/packedBytes'
import type { TxPool } from '#txpool/txPool'
import type { Address, Hash } from '#types/ids'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import type { BlockLimits, PoolRemoval, TransactionPool } from '#types/transactionPool'
import type { WorkerCalls } from '../calls.ts'
import { alone } from './packedBlocks.ts'
import type { AddResult, PoolAnswers, PoolCall } from './protocol.ts'

/** A pool in its own thread, and the limits of blocks built from it. */
export type ServedPool = {
  /** its `add` copies the bytes that it keeps */
  readonly pool: Pick<TxPool, 'get' | 'nextNonce' | 'size' | 'content' | 'remove'> & {
    add(raws: readonly Uint8Array[]): readonly AddResult[] | Promise<readonly AddResult[]>
  }
  readonly limitBlocks: (change: BlockLimits) => void
}

/** Maximum transactions of one message; checking them keeps the other thread busy for about 15 ms. */
const maxAddedAtOnce = 128

/** Answers one call of a pool's client. */
export function answerPool(
  { pool, limitBlocks }: ServedPool,
  call: PoolCall,
): PoolAnswers[keyof PoolAnswers] | Promise<readonly AddResult[]> {
  switch (call.method) {
    case 'poolAdd':
      return pool.add(unpackBytes(call.raws))
    case 'poolGet': {
      const found = pool.get(call.hash)
      return found && { hash: found.hash, sender: found.sender, isPending: found.isPending, raw: alone(found.raw) }
    }
    case 'poolNextNonce':
      return pool.nextNonce(call.sender)
    case 'poolSize':
      return pool.size()
    case 'poolContent': {
      const content = pool.content(call.sender)
      return {
        listed: content.map(({ hash, sender, isPending }) => ({ hash, sender, isPending })),
        raws: packBytes(content.map(({ raw }) => raw)),
      }
    }
    case 'poolRemove':
      return pool.remove(call.what)
    case 'poolLimitBlocks':
      limitBlocks(call.change)
      return undefined
  }
}

type Waiting = {
  readonly raw: Uint8Array
  readonly resolve: (outcome: PoolOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Client for the pool of another thread. Transactions added in one turn of the event loop, or while a message is unanswered, share a message.
 */
export class PoolClient implements TransactionPool {
  readonly #calls: Pick<WorkerCalls, 'call'>
  readonly #waiting: Waiting[] = []
  #isAdding = false

  constructor(calls: Pick<WorkerCalls, 'call'>) {
    this.#calls = calls
  }

  add(raw: Uint8Array): Promise<PoolOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, resolve, reject })
      if (this.#isAdding) return
      this.#isAdding = true
      setImmediate(() => void this.#flush())
    })
  }

  get(hash: Hash): Promise<PooledTransaction | undefined> {
    return this.#calls.call({ method: 'poolGet', hash })
  }

  nextNonce(sender: Address): Promise<bigint | undefined> {
    return this.#calls.call({ method: 'poolNextNonce', sender })
  }

  size(): Promise<{ readonly pending: number; readonly queued: number }> {
    return this.#calls.call({ method: 'poolSize' })
  }

  async content(sender?: Address): Promise<readonly PooledTransaction[]> {
    const { listed, raws } = await this.#calls.call({ method: 'poolContent', sender })
    const bytes = unpackBytes(raws)
    return listed.map((one, i) => ({ ...one, raw: bytes[i] as Uint8Array }))
  }

  remove(what: PoolRemoval): Promise<readonly Hash[]> {
    return this.#calls.call({ method: 'poolRemove', what })
  }

  async limitBlocks(change: BlockLimits): Promise<void> {
    await this.#calls.call({ method: 'poolLimitBlocks', change })
  }

  /** Sends one message at a time, so that other calls to the thread wait for one message at most. */
  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) await this.#addAll(this.#waiting.splice(0, maxAddedAtOnce))
    this.#isAdding = false
  }

  async #addAll(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#calls.call({ method: 'poolAdd', raws: packBytes(batch.map(({ raw }) => raw)) })
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i] as AddResult
        if (result.kind === 'failed') reject(restoreError(result.error))
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

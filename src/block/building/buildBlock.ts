import { emptyBytes } from '#lib/bytes'
import { CurrentState } from '#state/currentState'
import type { PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import { type BlockDeps, type BlockExecutor, type BlockResult, createBlockExecutor, type ParentBlock } from '../execution/executeBlock.ts'
import type { ExecutedBlock, InvalidBlock } from '../execution/executedBlock.ts'
import { executionFault } from '../faults.ts'
import { attributesRefusal, inputOfAttributes } from '../validation/blockRules.ts'
import { isRefusedForGood } from '../validation/transactionValidity.ts'
import type { PoolCandidate, PoolCursor } from './buildPool.ts'

/** Minimum gas of a transaction. A block with less gas left is full. */
const leastGas = 21_000n
/** Minimum estimated compressed size of a transaction, in bytes. */
const leastBytes = 100

/** Why a build stopped taking transactions. `dry`: the pool has no candidate for now. `full`: nothing else fits. `over`: time is up. */
export type Taken = 'dry' | 'full' | 'over'

/**
 * A block under construction: first the transactions of the attributes, then those of the pool. Construction can pause. After a pause the caller
 * passes the parent's state again, with the same values. Nothing is stored.
 */
export class BlockBuild implements Disposable {
  readonly #block: BlockExecutor
  readonly #below: CurrentState
  /** gas */
  readonly #leastFootprint: bigint
  /** estimated compressed bytes of the pool's transactions in the block */
  #dataBytes = 0

  /** @param block holds the transactions of the attributes @param below state of the parent, open */
  constructor(block: BlockExecutor, below: CurrentState) {
    this.#block = block
    this.#below = below
    this.#leastFootprint = block.run.footprintOf(emptyBytes)
  }

  /** Base fee of the block, in wei per gas. */
  get baseFee(): bigint {
    return this.#block.env.baseFee
  }

  /**
   * Takes candidates until the pool has none, none fits, or time is up. A candidate that cannot be in the block changes nothing.
   * @param on parent of the block
   * @param isTimeUp called after each candidate
   */
  takeFrom(on: ParentBlock, cursor: PoolCursor, limits: BlockLimits, isTimeUp: () => boolean): Taken {
    return this.#below.during(on.state, () => {
      for (;;) {
        if (this.#isFull(limits)) return 'full'
        const candidate = cursor.next()
        if (candidate === undefined) return 'dry'
        this.#offer(cursor, candidate, limits)
        if (isTimeUp()) return 'over'
      }
    })
  }

  /** Calls `look` with the block in its present state. @param on parent of the block */
  look(on: ParentBlock, look: (block: BlockExecutor) => void): void {
    this.#below.during(on.state, () => look(this.#block))
  }

  /** Computes state root, header and hash, and disposes of the build. @param on parent of the block */
  seal(on: ParentBlock): ExecutedBlock {
    using block = this.#block
    return this.#below.during(on.state, () => block.seal())
  }

  [Symbol.dispose](): void {
    this.#block[Symbol.dispose]()
  }

  #isFull(limits: BlockLimits): boolean {
    const { maxBlockBytes } = limits
    const { run } = this.#block
    const isOutOfData = maxBlockBytes !== undefined && maxBlockBytes - this.#dataBytes < leastBytes
    return isOutOfData || this.#gasLeft(limits) < leastGas || run.footprintLeft < this.#leastFootprint
  }

  #gasLeft({ maxBlockGas }: BlockLimits): bigint {
    const { env, run } = this.#block
    return maxBlockGas === undefined || maxBlockGas >= env.gasLimit ? run.gasLeft : run.gasLeft - (env.gasLimit - maxBlockGas)
  }

  #offer(cursor: PoolCursor, candidate: PoolCandidate, limits: BlockLimits): void {
    const { env, rules } = this.#block
    // L1 has lowered the gas limit: no block can take this transaction, and the sender's later ones would wait forever
    if (candidate.tx.gasLimit > env.gasLimit) cursor.skip(candidate, 'never')
    else if (!this.#fits(candidate, limits)) cursor.skip(candidate, 'now')
    else if (this.#block.takeSigned(candidate) === undefined) this.#dataBytes += candidate.sizeBytes
    else cursor.skip(candidate, isRefusedForGood(env, rules, candidate.tx) ? 'never' : 'now')
  }

  #fits({ tx, sizeBytes }: PoolCandidate, limits: BlockLimits): boolean {
    const { maxTransactionBytes, maxBlockBytes } = limits
    if (tx.gasLimit > this.#gasLeft(limits)) return false
    if (maxTransactionBytes !== undefined && sizeBytes > maxTransactionBytes) return false
    return maxBlockBytes === undefined || this.#dataBytes + sizeBytes <= maxBlockBytes
  }
}

/**
 * Begins a block and executes the transactions of the attributes.
 * @returns 'invalid' when one of these transactions cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) when the fields are not those of their fork
 */
export function beginBuild(
  deps: BlockDeps,
  on: ParentBlock,
  attributes: PayloadAttributes,
): { readonly kind: 'begun'; readonly build: BlockBuild } | InvalidBlock {
  const { timestamp } = attributes
  const reason = attributesRefusal(deps.config, attributes)
  if (reason !== undefined) throw executionFault('INVALID_ATTRIBUTES', { timestamp, reason })
  const below = new CurrentState()
  return below.during(on.state, () => {
    const opened = createBlockExecutor(deps, { ...on, state: below }, inputOfAttributes(deps.config, attributes))
    if (opened.kind === 'invalid') return opened
    return takenAll(opened.block) ?? { kind: 'begun', build: new BlockBuild(opened.block, below) }
  })
}

/** Executes all transactions of the input. Disposes of the block when it is invalid or a fault is thrown. */
function takenAll(block: BlockExecutor): InvalidBlock | undefined {
  using abandoned = new DisposableStack()
  abandoned.use(block)
  const refusal = block.takeAll()
  if (refusal === undefined) abandoned.move()
  return refusal
}

/**
 * Builds the block of the attributes' own transactions, without any from the pool. Nothing is stored.
 * @returns 'invalid' when a transaction cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) when the fields are not those of their fork
 */
export function buildBlock(deps: BlockDeps, parent: ParentBlock, attributes: PayloadAttributes): BlockResult {
  const begun = beginBuild(deps, parent, attributes)
  return begun.kind === 'invalid' ? begun : { kind: 'executed', block: begun.build.seal(parent) }
}

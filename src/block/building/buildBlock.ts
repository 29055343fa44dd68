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

/** The least that a transaction can use: with less left in the block none fits. */
const leastGas = 21_000n
/** The least estimated size of a transaction, in bytes. */
const leastBytes = 100

/** `dry`: the pool has no more for now. `full`: nothing fits any more. `over`: time is up. */
export type Taken = 'dry' | 'full' | 'over'

/**
 * A block that is built out of attributes and then of a pool, with breaks: the state below is given anew each time, and is always that after the
 * same parent. Nothing is stored.
 */
export class BlockBuild implements Disposable {
  readonly #block: BlockExecutor
  readonly #below: CurrentState
  /** gas */
  readonly #leastFootprint: bigint
  /** estimated compressed bytes of the pool's transactions */
  #dataBytes = 0

  /** @param block with the transactions of the attributes; the state below is open */
  constructor(block: BlockExecutor, below: CurrentState) {
    this.#block = block
    this.#below = below
    this.#leastFootprint = block.run.footprintOf(emptyBytes)
  }

  /** Of the block, wei per gas. */
  get baseFee(): bigint {
    return this.#block.env.baseFee
  }

  /**
   * Takes candidates until there is none, none fits, or time is up. One that cannot be in the block leaves no trace.
   * @param on the parent
   * @param isTimeUp asked after each candidate
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

  /** Lets somebody look at it as it is now. @param on the parent */
  look(on: ParentBlock, look: (block: BlockExecutor) => void): void {
    this.#below.during(on.state, () => look(this.#block))
  }

  /** State root, header, hash; the build is disposed of. @param on the parent */
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
    // more than L1 lets any block have, since a change of the limit: those behind it would wait for ever
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
 * Begins a block with the transactions of the attributes.
 * @returns 'invalid' when one of them cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) on fields that their fork does not allow, UNSUPPORTED_FORK (fatal)
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

/** Takes all transactions of the input. A block that cannot have them, or in which a fault comes up, is given up. */
function takenAll(block: BlockExecutor): InvalidBlock | undefined {
  using abandoned = new DisposableStack()
  abandoned.use(block)
  const refusal = block.takeAll()
  if (refusal === undefined) abandoned.move()
  return refusal
}

/**
 * The block of the attributes' own transactions, with none of a pool. Nothing is stored.
 * @returns 'invalid' when a transaction cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) on fields that their fork does not allow, UNSUPPORTED_FORK (fatal)
 */
export function buildBlock(deps: BlockDeps, parent: ParentBlock, attributes: PayloadAttributes): BlockResult {
  const begun = beginBuild(deps, parent, attributes)
  return begun.kind === 'invalid' ? begun : { kind: 'executed', block: begun.build.seal(parent) }
}

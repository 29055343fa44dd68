import { messagePasser } from '#chainspec/addresses'
import type { EvmRules } from '#chainspec/evmRules'
import { type Fork, isActive } from '#chainspec/forks'
import { evmRulesAt } from '#chainspec/opRules'
import { constantFields } from '#engine/payloadHeader'
import type { BlockEnv, Evm, EvmSession, InterruptCheck } from '#evm/ports'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { RootThreads } from '#state/rootParts'
import { computeStateRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import { orderedRoot } from '#trie/orderedRoot'
import type { Tries } from '#trie/tries'
import { type Header, hashHeader } from '#types/header'
import { type Address, emptyRequestsHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { ExecutionConfig } from '../executionConfig.ts'
import { childBaseFee } from '../fees/baseFee.ts'
import { baseTimeOutcomeRefusal, baseTimeRefusal } from '../validation/baseTimeRules.ts'
import { inputRefusal } from '../validation/blockRules.ts'
import type { BlockInput, ExecutedBlock, InvalidBlock } from './executedBlock.ts'
import { notingReads, type ReadKeys } from './readKeys.ts'
import { receiptsRoot, unionOfBlooms } from './receipts.ts'
import { type BlockRun, type ReadTransaction, TransactionRun } from './runTransactions.ts'
import { type Senders, type SendersAhead, senderAhead } from './senders.ts'
import { applySystemCalls } from './systemCalls.ts'

/** Dependencies of block execution. */
export type BlockDeps = {
  readonly evm: Evm
  readonly config: ExecutionConfig
  readonly senders: Senders
  /** Senders of the transactions of the block's input, from other threads. Absent: execution recovers all. */
  readonly ahead?: SendersAhead | undefined
  /** Receives the keys that are read from the parent's state. */
  readonly keys?: ReadKeys | undefined
  /** Computes state roots. Absent: the thread's instance without a cache. */
  readonly tries?: Tries
  /** Compute parts of state roots of large blocks. Absent: this thread computes all. */
  readonly rootThreads?: RootThreads | undefined
  /** Called before each piece of work. An error that it throws ends the execution of the block. Absent: execution time is unlimited. */
  readonly interruptCheck?: InterruptCheck
  /** Measures the stages of `executeBlock`. */
  readonly timer?: ExecutionStages | undefined
}

/** `transactions`: system calls and transactions; `seal`: state root, header and hash. */
export type ExecutionStage = 'transactions' | 'seal'
/** `ended` ends a stage and begins the next one. */
export type ExecutionStages = { begin(): void; ended(stage: ExecutionStage): void }

/** The parent block and the state after it. */
export type ParentBlock = { readonly header: Header; readonly hash: Hash; readonly state: WorldState }

/** Roots in the header of a block that is executed. `transactionsRoot` has been computed from its transactions; `stateRoot` is a claim. */
export type ClaimedRoots = Pick<Header, 'transactionsRoot' | 'stateRoot'>

/** Result of building or executing a block. */
export type BlockResult = { readonly kind: 'executed'; readonly block: ExecutedBlock } | InvalidBlock

type SealDeps = Pick<BlockDeps, 'ahead' | 'tries' | 'rootThreads'>

const messagePasserKey = keccak256(fromHex(messagePasser))

/** A block that takes transactions until it is sealed. The caller disposes of it when it is sealed or abandoned. */
export class BlockExecutor implements Disposable {
  readonly run: TransactionRun
  readonly env: BlockEnv
  readonly rules: EvmRules
  /** Input that the block was begun with. */
  readonly input: BlockInput
  readonly #run: BlockRun
  readonly #parent: ParentBlock
  readonly #deps: SealDeps
  readonly #transactions: Uint8Array[] = []

  constructor(run: BlockRun, parent: ParentBlock, input: BlockInput, deps: SealDeps) {
    this.run = new TransactionRun(run)
    this.env = run.env
    this.rules = run.rules
    this.#run = run
    this.#parent = parent
    this.#deps = deps
    this.input = input
  }

  /** Transactions that the block has taken, EIP-2718 bytes. */
  get transactions(): readonly Uint8Array[] {
    return this.#transactions
  }

  /** EVM session with the block's present state. */
  get session(): EvmSession {
    return this.#run.session
  }

  get parentHash(): Hash {
    return this.#parent.hash
  }

  /** Whether a fork is active in the block. */
  has(fork: Fork): boolean {
    return isActive(this.#run.config.schedule, fork, this.input.timestamp)
  }

  /** Runs the next transaction. @param signer its sender, if known @returns why it cannot be next; then it has changed nothing */
  take(raw: Uint8Array, signer?: Address): string | undefined {
    const refusal = this.run.take(raw, signer)
    if (refusal === undefined) this.#transactions.push(raw)
    return refusal
  }

  /** `take` for a decoded transaction with a known sender. */
  takeSigned(transaction: ReadTransaction): string | undefined {
    const refusal = this.run.takeSigned(transaction)
    if (refusal === undefined) this.#transactions.push(transaction.raw)
    return refusal
  }

  /** Runs all transactions of the input. @returns 'invalid' for the first invalid transaction, or when BaseTime has another value than the block */
  takeAll(): InvalidBlock | undefined {
    for (const [index, raw] of this.input.transactions.entries()) {
      const refusal = this.take(raw, senderAhead(this.#deps.ahead, raw, index))
      if (refusal !== undefined) return { kind: 'invalid', reason: `transaction ${index}: ${refusal}` }
    }
    const { schedule } = this.#run.config
    const refusal = baseTimeOutcomeRefusal(schedule, this.session, this.env.number, this.input, this.run.executed)
    return refusal === undefined ? undefined : { kind: 'invalid', reason: refusal }
  }

  /**
   * Computes state root, header and hash. The block takes no transactions afterwards.
   * @param parent the parent with its present state; its values are those at the start of the block
   * @param diff state diff of all transactions, if known
   * @param claimed roots of the block, if it has been sealed before
   */
  seal(
    { state, header: parent }: ParentBlock = this.#parent,
    diff: StateDiff = this.session.diff(),
    claimed?: ClaimedRoots,
  ): ExecutedBlock {
    const { config, env } = this.#run
    const { schedule } = config
    const { timestamp, parentBeaconBlockRoot } = this.input
    const { executed, gasUsed, footprint } = this.run
    const { tries, rootThreads } = this.#deps
    const transactions = this.#transactions
    const receipts = executed.map(({ receipt }) => receipt)
    const trie = computeStateRoot(state.nodes, parent.stateRoot, diff, tries, claimed?.stateRoot, rootThreads)
    const withdrawalsRoot = isActive(schedule, 'isthmus', timestamp) ? messagePasserRoot(state, trie.storageRoots) : emptyRoot
    const header: Header = {
      ...constantFields,
      parentHash: this.#parent.hash,
      stateRoot: trie.root,
      transactionsRoot: claimed?.transactionsRoot ?? orderedRoot(transactions),
      receiptsRoot: receiptsRoot(schedule, timestamp, receipts),
      logsBloom: unionOfBlooms(receipts),
      gasUsed,
      beneficiary: env.beneficiary,
      number: env.number,
      gasLimit: env.gasLimit,
      timestamp,
      extraData: this.input.extraData,
      mixHash: env.prevRandao,
      baseFeePerGas: env.baseFee,
      ...(isActive(schedule, 'canyon', timestamp) && { withdrawalsRoot }),
      ...(parentBeaconBlockRoot !== undefined && { blobGasUsed: footprint, excessBlobGas: 0n, parentBeaconBlockRoot }),
      ...(isActive(schedule, 'isthmus', timestamp) && { requestsHash: emptyRequestsHash }),
    }
    return { header, hash: hashHeader(header), transactions, executed, diff, trie }
  }

  [Symbol.dispose](): void {
    this.#run.session[Symbol.dispose]()
  }
}

/** Returns the storage root of the message passer. @see specs protocol/isthmus/exec-engine.md, "L2ToL1MessagePasser Storage Root in Header" */
function messagePasserRoot(before: WorldState, changed: ReadonlyMap<string, Hash>): Hash {
  return changed.get(toHex(messagePasserKey)) ?? before.view.account(messagePasserKey)?.storageRoot ?? emptyRoot
}

type Opened = { readonly kind: 'open'; readonly block: BlockExecutor } | InvalidBlock

/** A block before its system calls, and the function that makes them; it returns why the block is invalid. */
type Begun = { readonly kind: 'begun'; readonly block: BlockExecutor; readonly callSystem: () => string | undefined } | InvalidBlock

/**
 * Begins a block on its parent: checks its input and makes the system calls. It runs no transactions.
 * @throws faults of the state when the parent's state is incomplete
 * @see specs protocol/exec-engine.md
 */
export function createBlockExecutor(deps: BlockDeps, parent: ParentBlock, input: BlockInput): Opened {
  const begun = beginBlock(deps, parent, input)
  if (begun.kind === 'invalid') return begun
  using abandoned = new DisposableStack()
  const block = abandoned.use(begun.block)
  const refusal = begun.callSystem()
  if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
  abandoned.move()
  return { kind: 'open', block }
}

/** `createBlockExecutor` for a parent state that already includes the effects of the block's system calls. */
export function resumeBlockExecutor(deps: BlockDeps, parent: ParentBlock, input: BlockInput): Opened {
  const begun = beginBlock(deps, parent, input)
  return begun.kind === 'invalid' ? begun : { kind: 'open', block: begun.block }
}

function beginBlock(deps: BlockDeps, parent: ParentBlock, input: BlockInput): Begun {
  const { config, senders, interruptCheck } = deps
  const { schedule } = config
  const rules = evmRulesAt(schedule, input.timestamp)
  const refusal = inputRefusal(config, parent.header, input)
  if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
  const baseFee = childBaseFee(config, parent.header, input.timestamp)
  if (baseFee === undefined) return { kind: 'invalid', reason: 'the parent has no readable base-fee parameters' }

  const env: BlockEnv = {
    chainId: BigInt(config.l2ChainId),
    number: parent.header.number + 1,
    timestamp: input.timestamp,
    beneficiary: input.beneficiary,
    prevRandao: input.prevRandao,
    gasLimit: input.gasLimit,
    baseFee,
    blobBaseFee: 1n,
  }
  const session = deps.evm.open(notingReads(parent.state.view, deps.keys), env, rules, interruptCheck)
  const run = { session, env, rules, config, senders, ...(interruptCheck && { interruptCheck }) }
  const block = new BlockExecutor(run, parent, input, deps)
  const at = { hash: parent.hash, timestamp: parent.header.timestamp }
  const callSystem = (): string | undefined =>
    baseTimeRefusal(schedule, session, parent.header, input) ?? applySystemCalls(session, schedule, at, input)
  return { kind: 'begun', block, callSystem }
}

/**
 * Executes a block on its parent: system calls, transactions, state root, header. Nothing is stored.
 * @param claimed roots of the block's header, if it has one: that of the input's transactions, and the state root that is expected
 * @throws faults of the state when the parent's state is incomplete
 * @see specs protocol/exec-engine.md
 */
export function executeBlock(deps: BlockDeps, parent: ParentBlock, input: BlockInput, claimed?: ClaimedRoots): BlockResult {
  deps.timer?.begin()
  const opened = createBlockExecutor(deps, parent, input)
  if (opened.kind === 'invalid') return opened
  using block = opened.block
  const refused = block.takeAll()
  if (refused) return refused
  deps.timer?.ended('transactions')
  const sealed = block.seal(undefined, undefined, claimed)
  deps.timer?.ended('seal')
  return { kind: 'executed', block: sealed }
}

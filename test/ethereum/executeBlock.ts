import { blockEnvOf } from '#block/execution/blockEnv'
import type { BlockResult, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock, InvalidBlock } from '#block/execution/executedBlock'
import { receiptsRoot, unionOfBlooms } from '#block/execution/receipts'
import type { Senders } from '#block/execution/senders'
import type { BlockEnv, Evm, EvmSession } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { computeStateRoot } from '#state/stateRoot'
import { type EthereumRules, hasOldFork } from '#test/reference/oldForks'
import { orderedRoot } from '#trie/orderedRoot'
import type { Block } from '#types/block'
import { type Header, hashHeader } from '#types/header'
import { hashFromBytes } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { decodeTransaction, depositType, hashTransaction, type Transaction } from '#types/transaction'
import { blobGasPrice } from './blobs.ts'
import { beginEthereumBlock, endEthereumBlock } from './blockChanges.ts'
import { createEthereumFees } from './fees.ts'
import { recoverFrontierSender } from './frontierSender.ts'
import type { EthereumChainSpec } from './genesis.ts'
import { ethereumBaseFee, ethereumRefusal } from './headerRules.ts'
import { type EthereumSchedule, ethereumRulesAt } from './schedule.ts'
import { applyEthereumTransaction } from './transaction.ts'

export type EthereumBlockDeps = { readonly evm: Evm; readonly spec: EthereumChainSpec; readonly senders: Senders }

/** Returns the EVM environment of a block. Before the merge `prevRandao` holds the difficulty, because both use the same opcode (EIP-4399). */
function ethereumEnv({ schedule, config }: EthereumChainSpec, header: Header): BlockEnv {
  const { difficulty, mixHash } = header
  return {
    ...blockEnvOf(config, header),
    prevRandao: difficulty === 0n ? mixHash : hashFromBytes(bytesFromBigint(difficulty, 32)),
    blobBaseFee: blobGasPrice(schedule, header),
  }
}

function decoded(raw: Uint8Array): Transaction | string {
  try {
    return decodeTransaction(raw)
  } catch (error) {
    if (error instanceof RlpError) return error.message
    throw error
  }
}

/** A block of Ethereum that takes its transactions until it is sealed. */
export class EthereumBlockRun implements Disposable {
  readonly session: EvmSession
  readonly executed: ExecutedBlock['executed'][number][] = []
  readonly #env: BlockEnv
  readonly #rules: EthereumRules
  readonly #schedule: EthereumSchedule
  readonly #parent: ParentBlock
  readonly #block: Block
  readonly #senders: Senders
  #gasUsed = 0n

  /** Opens the block and makes its system calls. The header has passed `ethereumRefusal`. */
  constructor({ evm, spec, senders }: EthereumBlockDeps, parent: ParentBlock, block: Block) {
    const { schedule } = spec
    const { header } = block
    const baseFee = ethereumBaseFee(schedule, parent.header, header.timestamp) ?? 0n
    this.#env = { ...ethereumEnv(spec, header), baseFee }
    this.#rules = ethereumRulesAt(schedule, header)
    this.#schedule = schedule
    this.#parent = parent
    this.#block = block
    this.#senders = hasOldFork(this.#rules, 'homestead') ? senders : { of: recoverFrontierSender }
    this.session = evm.open(parent.state.view, this.#env, this.#rules)
    beginEthereumBlock(this.session, schedule, block)
  }

  /** Runs the next transaction. @returns why it is invalid; then it has changed nothing */
  take(raw: Uint8Array): string | undefined {
    const tx = decoded(raw)
    if (typeof tx === 'string') return tx
    if (tx.type === depositType) return 'a deposit in a block of Ethereum'
    const hash = hashTransaction(raw)
    const sender = this.#senders.of(tx, hash)
    if (sender === undefined) return 'invalid signature'
    const env = this.#env
    const at = { env, rules: this.#rules, fees: createEthereumFees(this.#schedule, env.timestamp) }
    const result = applyEthereumTransaction(this.session, at, tx, raw, sender, env.gasLimit - this.#gasUsed)
    if (result.kind === 'refused') return result.reason
    const { gasUsed, outcome } = result
    this.#gasUsed += gasUsed
    const succeeded = outcome.kind === 'success'
    const fields = { type: tx.type, succeeded, cumulativeGasUsed: this.#gasUsed, logs: succeeded ? outcome.logs : [] }
    const receipt = createReceipt(hasOldFork(this.#rules, 'byzantium') ? fields : { ...fields, postState: fromHex(this.#trie().root) })
    this.executed.push({ hash, sender, receipt, gasUsed })
    return undefined
  }

  #trie(): ReturnType<typeof computeStateRoot> {
    const { state, header } = this.#parent
    return computeStateRoot(state.nodes, header.stateRoot, this.session.diff())
  }

  /** Applies the changes after the last transaction, and computes the header. */
  seal(): BlockResult {
    const { header: claimed, transactions } = this.#block
    const { executed } = this
    const receipts = executed.map(({ receipt }) => receipt)
    const ended = endEthereumBlock(this.session, this.#schedule, this.#parent.header, this.#block, receipts)
    if (ended.kind === 'invalid') return ended
    const trie = this.#trie()
    const header: Header = {
      ...claimed,
      parentHash: this.#parent.hash,
      stateRoot: trie.root,
      transactionsRoot: orderedRoot(transactions),
      receiptsRoot: receiptsRoot({}, claimed.timestamp, receipts),
      logsBloom: unionOfBlooms(receipts),
      gasUsed: this.#gasUsed,
      ...(claimed.baseFeePerGas !== undefined && { baseFeePerGas: this.#env.baseFee }),
      ...ended.end,
    }
    return { kind: 'executed', block: { ...this.#block, header, hash: hashHeader(header), executed, diff: this.session.diff(), trie } }
  }

  [Symbol.dispose](): void {
    this.session[Symbol.dispose]()
  }
}

function takeAll(run: EthereumBlockRun, transactions: readonly Uint8Array[]): InvalidBlock | undefined {
  for (const [index, raw] of transactions.entries()) {
    const refusal = run.take(raw)
    if (refusal !== undefined) return { kind: 'invalid', reason: `transaction ${index}: ${refusal}` }
  }
  return undefined
}

/** Executes a block of Ethereum on its parent, in the same way as `executeBlock` of an OP chain. Nothing is stored. */
export function executeEthereumBlock(deps: EthereumBlockDeps, parent: ParentBlock, block: Block): BlockResult {
  const refusal = ethereumRefusal(deps.spec.schedule, parent.header, block)
  if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
  using run = new EthereumBlockRun(deps, parent, block)
  return takeAll(run, block.transactions) ?? run.seal()
}

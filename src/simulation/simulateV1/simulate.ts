import { blockEnvOf } from '#block/execution/blockEnv'
import type { ParentBlock } from '#block/execution/executeBlock'
import { receiptsRoot, unionOfBlooms } from '#block/execution/receipts'
import type { EvmRules } from '#chainspec/evmRules'
import { evmRulesAt } from '#chainspec/opRules'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockEnv, Evm, EvmSession, StateView } from '#evm/ports'
import type { TracedEvm } from '#evm/wasmEvm'
import type {
  CallOutcome,
  CallRequest,
  RunTimer,
  SimulatedBlock,
  SimulatedCall,
  SimulationOutcome,
  SimulationRefusal,
  SimulationRequest,
} from '#rpc/callPorts'
import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { type Hash, zeroAddress } from '#types/ids'
import type { Log } from '#types/log'
import { createReceipt, type Receipt } from '#types/receipt'
import { encodeTransaction, hashTransaction } from '#types/transaction'
import { OutOfTime } from '../call/callTimer.ts'
import { baseTimeDiff } from '../call/nextSlot.ts'
import { maxOutputBytes, OutputBound } from '../call/outputBound.ts'
import { overriddenRules } from '../call/overriddenPrecompiles.ts'
import { overriddenEnv, overriddenView, overrideDiff } from '../call/overriddenView.ts'
import { type SimulatedContext, type SimulatedRun, simulateCall, transactionOf } from './simulateCall.ts'
import type { SimulatedRules } from './simulatedRules.ts'
import { SimulatedStates } from './simulatedStates.ts'
import { planBlocks, type SimulatedPlan } from './simulatePlan.ts'
import { isTransferLog, TransferLogs } from './transferLogs.ts'

export type SimulateDeps = {
  readonly evm: Evm
  readonly traced: TracedEvm
  readonly config: RollupConfig
  readonly rules: SimulatedRules
  readonly timer: RunTimer
}

/** Thrown when a simulated block is invalid. */
class Refused extends Error {
  readonly refusal: SimulationRefusal

  constructor(refusal: SimulationRefusal) {
    super(refusal.reason)
    this.refusal = refusal
  }
}

/** Thrown when the calls have returned too much data. */
class TooMuchOutput extends Error {}

/** Simulates blocks of calls on top of a block, each on the previous one. Changes are discarded. */
export function simulate(deps: SimulateDeps, at: ParentBlock, request: SimulationRequest, gasCap: bigint): SimulationOutcome {
  const plans = planBlocks(deps.config, at.header, request.blocks)
  if ('kind' in plans) return { kind: 'refused', refusal: plans }
  const simulation = new Simulation(deps, at, request, gasCap)
  try {
    return { kind: 'simulated', style: deps.rules.style, blocks: plans.map((plan) => simulation.run(plan)) }
  } catch (error) {
    if (error instanceof OutOfTime) return { kind: 'timeout', timeoutMs: error.timeoutMs }
    if (error instanceof TooMuchOutput) return { kind: 'too-big', maxBytes: maxOutputBytes }
    if (error instanceof Refused) return { kind: 'refused', refusal: error.refusal }
    throw error
  }
}

/** Results of the calls of one block. */
class BlockRun {
  readonly transactions: SimulatedBlock['transactions'][number][] = []
  readonly raws: Uint8Array[] = []
  readonly receipts: Receipt[] = []
  readonly calls: SimulatedCall[] = []
  gasUsed = 0n
  #logs = 0

  /** Assigns the next log indices of the block. */
  place(logs: readonly Log[]): { readonly log: Log; readonly index: number }[] {
    return logs.map((log) => ({ log, index: this.#logs++ }))
  }
}

class Simulation {
  readonly #deps: SimulateDeps
  readonly #request: SimulationRequest
  readonly #states: SimulatedStates
  readonly #hashes = new Map<number, Hash>()
  readonly #outputs = new OutputBound()
  #parent: { readonly header: Header; readonly hash: Hash }
  /** gas left for all calls of the request together */
  #gasLeft: bigint

  constructor(deps: SimulateDeps, at: ParentBlock, request: SimulationRequest, gasCap: bigint) {
    this.#deps = deps
    this.#request = request
    this.#states = new SimulatedStates(at, deps.rules.hasStateRoots)
    this.#parent = at
    this.#gasLeft = gasCap
  }

  run(plan: SimulatedPlan): SimulatedBlock {
    const { config, rules } = this.#deps
    const parent = this.#parent
    const open = rules.open(parent.header, parent.hash, plan, this.#baseFee(plan))
    this.#states.add(baseTimeDiff(this.#states.view, plan.millisPart))
    this.#states.add(overrideDiff(this.#states.view, plan.state))
    const env = overriddenEnv(blockEnvOf(config, open), { blobBaseFee: plan.block.blobBaseFee })
    const run = new BlockRun()
    const evmRules = this.#rulesOf(plan)
    const transfers = this.#request.traceTransfers ? new TransferLogs() : undefined
    using session = this.#open(env, evmRules, transfers)
    rules.begin(session, open, parent.header)
    transfers?.take()
    const place: SimulatedContext = {
      session,
      env,
      rules: evmRules,
      validation: this.#request.validation,
      fees: rules.fees(session, open),
    }
    for (const call of plan.calls) this.#call(place, run, call, plan.calls, transfers)
    const end = rules.end(session, open, parent.header, run)
    this.#states.add(session.diff())
    return this.#seal({ ...open, ...end }, run)
  }

  #baseFee({ block, timestamp }: SimulatedPlan): bigint {
    const { header } = this.#parent
    if (block.baseFee !== undefined) return block.baseFee
    if (!this.#request.validation) return 0n
    return this.#deps.rules.childBaseFee(header, timestamp) ?? header.baseFeePerGas ?? 0n
  }

  /** Returns the rules of a block. Moved or overridden precompiles apply to that block only. */
  #rulesOf({ state, timestamp }: SimulatedPlan): EvmRules {
    const overridden = overriddenRules(evmRulesAt(this.#deps.config.schedule, timestamp), state)
    if (overridden.kind === 'refused') throw new Refused({ kind: 'override', reason: overridden.reason })
    return overridden.rules
  }

  #open(env: BlockEnv, rules: EvmRules, transfers: TransferLogs | undefined): EvmSession {
    const { evm, traced } = this.#deps
    const view: StateView = overriddenView(this.#states.view, undefined, new Map(this.#hashes))
    return transfers ? traced.open(view, env, rules, transfers) : evm.open(view, env, rules)
  }

  #call(
    place: SimulatedContext,
    run: BlockRun,
    request: CallRequest,
    all: readonly CallRequest[],
    transfers: TransferLogs | undefined,
  ): void {
    const { session, env } = place
    const { rules } = this.#deps
    const left = env.gasLimit - run.gasUsed
    const asked = request.gas ?? rules.defaultGas(left, env.gasLimit, all)
    if (asked > left) {
      throw new Refused({ kind: 'block-gas-limit', reason: `block gas limit reached: remaining: ${left}, required: ${asked}` })
    }
    if (request.chainId !== undefined && request.chainId !== env.chainId)
      throw new Refused({ kind: 'bad-request', reason: 'invalid chain ID' })
    const from = request.from ?? zeroAddress
    const nonce = request.nonce ?? session.account(from)?.nonce ?? 0n
    const gasLimit = asked < this.#gasLeft ? asked : this.#gasLeft
    const transaction = transactionOf(request, env.chainId, nonce, gasLimit)
    const raw = encodeTransaction(transaction)
    const done = simulateCall(place, transaction, raw, from, this.#deps.timer())
    if (done.kind === 'refused') throw new Refused(done.refusal)
    this.#gasLeft -= done.gasUsed
    run.gasUsed += done.gasUsed
    run.transactions.push({ transaction, hash: hashTransaction(raw), from })
    run.raws.push(raw)
    const { outcome, gasUsed, mostGas } = done
    const answered = outcomeOf(done)
    if (!this.#outputs.take(answered)) throw new TooMuchOutput()
    const succeeded = outcome.kind === 'success'
    const logged = succeeded ? outcome.logs : []
    const traced = transfers?.take()
    const isBeside = rules.transferLogs === 'beside logs'
    const shown = traced?.map(({ log }) => log) ?? logged
    const placed = traced !== undefined && isBeside ? traced : run.place(shown)
    const logs = isBeside ? shown.filter((log) => !isTransferLog(log)) : shown
    run.receipts.push(createReceipt({ type: transaction.type, succeeded, cumulativeGasUsed: run.gasUsed, logs }))
    run.calls.push({ outcome: answered, gasUsed, mostGas, logs: placed })
  }

  #seal(header: Header, run: BlockRun): SimulatedBlock {
    const { schedule } = this.#deps.config
    const sealed: Header = {
      ...header,
      stateRoot: this.#states.root,
      transactionsRoot: orderedRoot(run.raws),
      receiptsRoot: receiptsRoot(schedule, header.timestamp, run.receipts),
      logsBloom: unionOfBlooms(run.receipts),
      gasUsed: run.gasUsed,
    }
    const hash = hashHeader(sealed)
    this.#hashes.set(sealed.number, hash)
    this.#parent = { header: sealed, hash }
    return { hash, block: { header: sealed, transactions: run.raws }, transactions: run.transactions, calls: run.calls }
  }
}

function outcomeOf({ outcome, output }: Extract<SimulatedRun, { kind: 'ran' }>): CallOutcome {
  return outcome.kind === 'halt' ? { kind: 'halt', reason: outcome.reason } : { kind: outcome.kind, output }
}

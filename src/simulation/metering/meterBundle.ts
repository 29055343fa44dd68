import { blockEnvOf } from '#block/execution/blockEnv'
import type { ParentBlock } from '#block/execution/executeBlock'
import { TransactionRun } from '#block/execution/runTransactions'
import { applySystemCalls } from '#block/execution/systemCalls'
import { feeCapOf } from '#block/validation/transactionValidity'
import { millisPartOf, timestampOf } from '#chainspec/blockTime'
import { evmRulesAt } from '#chainspec/opRules'
import type { EvmSession } from '#evm/ports'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import type { AccountOverride } from '#rpc/callPorts'
import type { Bundle, BundledTransaction, BundleMeter, MeterOutcome } from '#rpc/meterPorts'
import { computeStateRoot } from '#state/stateRoot'
import { type Address, type Hash, zeroHash } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, hashTransaction, type SignedTransaction } from '#types/transaction'
import { withMillisPart } from '../call/nextSlot.ts'
import { overriddenView } from '../call/overriddenView.ts'
import type { Pieces } from '../slicedRun.ts'
import { type MeterDeps, timed } from './timed.ts'

/** Maximum base fee in the simulation, in wei per gas, so that a high base fee does not refuse a bundle. */
const highestBaseFee = 5_000_000n
/** Maximum gas limit of a transaction, as in eth_call. A transaction cannot be interrupted. */
const maxGas = 50_000_000n
/** Maximum distance of the bundle's timestamp from the head's, in seconds. */
const maxAheadSec = 3_600
/** Maximum distance of a sender's first nonce above the account's. */
const maxNonceAhead = 10_000n

type Read = { readonly raw: Uint8Array; readonly tx: SignedTransaction; readonly hash: Hash; readonly from: Address }

/** Decodes an untrusted transaction. @returns the transaction with its sender, or why it is invalid */
function read(raw: Uint8Array): Read | string {
  try {
    const tx = decodeTransaction(raw)
    if (tx.type === depositType) return 'a bundle cannot contain a deposit'
    const from = recoverSender(tx)
    if (tx.gasLimit > maxGas) return `gas limit ${tx.gasLimit}, at most ${maxGas}`
    return from === undefined ? 'invalid transaction signature' : { raw, tx, hash: hashTransaction(raw), from }
  } catch (error) {
    if (error instanceof RlpError) return error.message
    throw error
  }
}

/** Sets each sender's nonce to that of its first transaction, so that a bundle can run before the transactions that it follows are included. */
function nonceOverrides({ state }: ParentBlock, transactions: readonly Read[]): ReadonlyMap<Address, AccountOverride> | string {
  const overrides = new Map<Address, AccountOverride>()
  for (const { tx, from } of transactions) {
    if (overrides.has(from)) continue
    const nonce = state.view.account(keccak256(fromHex(from)))?.nonce ?? 0n
    if (tx.nonce > nonce + maxNonceAhead) return `nonce ${tx.nonce} of ${from} is too far above ${nonce}`
    overrides.set(from, { nonce: tx.nonce })
  }
  return overrides
}

/** Runs the transactions of a bundle on the head's state, with the fees and rules of the next block. Changes are discarded. */
export function* meterBundle(deps: MeterDeps, parent: ParentBlock, bundle: Bundle): Pieces<MeterOutcome<BundleMeter>> {
  const { clock } = deps
  const transactions: Read[] = []
  for (const [index, raw] of bundle.transactions.entries()) {
    const known = read(raw)
    if (typeof known === 'string') return { kind: 'unreadable', reason: `transaction ${index}: ${known}` }
    transactions.push(known)
    yield
  }
  const aheadSec = bundle.timestamp === undefined ? 0 : bundle.timestamp - parent.header.timestamp
  if (aheadSec < 0 || aheadSec > maxAheadSec) return { kind: 'refused', reason: `timestamp ${aheadSec} s after the head's` }
  const overrides = nonceOverrides(parent, transactions)
  if (typeof overrides === 'string') return { kind: 'refused', reason: overrides }
  using session = openSession(deps, parent, bundle, overrides)
  const [run, beginUs] = timed(clock, () => session.begin())
  const results: BundledTransaction[] = []
  let executionUs = beginUs
  for (const { raw, tx, hash, from } of transactions) {
    const [refusal, us] = timed(clock, () => run.takeSigned({ tx, raw, hash, sender: from }))
    const executed = run.executed.at(-1)
    if (refusal !== undefined || executed === undefined) return { kind: 'refused', reason: `transaction ${hash}: ${refusal}` }
    executionUs += us
    const { to, value } = tx
    results.push({ hash, from, to, value, feeCap: feeCapOf(tx), gasUsed: executed.gasUsed, executionUs: us })
    yield
  }
  const { state, header } = parent
  const [, stateRootUs] = timed(clock, () => computeStateRoot(state.nodes, header.stateRoot, session.evm.diff()))
  return { kind: 'measured', value: { stateBlock: header.number, results, executionUs, stateRootUs } }
}

type BundleSession = Disposable & { readonly evm: EvmSession; begin(): TransactionRun }

/** Opens a session in the environment of the next block. */
function openSession(
  { evm, config }: MeterDeps,
  { header, hash, state }: ParentBlock,
  { timestamp = timestampOf(config, header.number + 1) }: Bundle,
  overrides: ReadonlyMap<Address, AccountOverride>,
): BundleSession {
  const { baseFeePerGas = highestBaseFee, parentBeaconBlockRoot = zeroHash } = header
  const baseFee = baseFeePerGas < highestBaseFee ? baseFeePerGas : highestBaseFee
  const env = blockEnvOf(config, { ...header, number: header.number + 1, timestamp, baseFeePerGas: baseFee })
  const rules = evmRulesAt(config.schedule, timestamp)
  const view = withMillisPart(state.view, millisPartOf(config, header.number + 1))
  const session = evm.open(overriddenView(view, overrides), env, rules)
  return {
    evm: session,
    begin(): TransactionRun {
      applySystemCalls(session, config.schedule, { hash, timestamp: header.timestamp }, { timestamp, parentBeaconBlockRoot })
      return new TransactionRun({ session, env, rules, config, senders: { of: (tx) => recoverSender(tx) } })
    },
    [Symbol.dispose]: () => session[Symbol.dispose](),
  }
}

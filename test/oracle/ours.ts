import { type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import { unionOfBlooms } from '#block/execution/receipts'
import type { ExecutionConfig } from '#block/executionConfig'
import { evmRulesAt } from '#chainspec/opRules'
import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex, toQuantity } from '#lib/hex'
import type { CallMessage } from '#rpc/callPorts'
import { runMessage } from '#simulation/call/runMessage'
import { scheduleTo } from '#test/harness/chain/blocks'
import { type CaseAccount, type StateLines, stateAfter, viewOf } from '#test/harness/evm/case'
import { noNodes } from '#trie/ports'
import type { ExecutedTransaction } from '#types/executedTransaction'
import { type Address, emptyOmmersHash, emptyRoot, parseAddress, parseHash, zeroHash } from '#types/ids'
import { encodeReceipt } from '#types/receipt'
import { recoverSender } from '#types/recoverSender'
import { chainId } from './blockCase.ts'
import type { OracleFork, WireAccount, WireAnswer, WireCall, WireCallEnd, WireCase, WireTransactionEnd } from './wire.ts'

/** Basalt's result in the oracle's format, with the state by hashed keys. */
export type OurAnswer = Omit<WireAnswer, 'accounts'> & { readonly state: StateLines }

const evm: Evm = createWasmEvm()
/** Parameters with which the base fee stays the same: the gas target is the gas limit. */
const onTarget = { elasticity: 1, denominator: 50 }

const configOf = (fork: OracleFork): ExecutionConfig => ({
  schedule: scheduleTo(fork),
  eip1559: { ...onTarget, denominatorCanyon: 50 },
  l2ChainId: chainId,
  genesis: { l1: { number: 0, hash: zeroHash }, l2: { number: 0, hash: zeroHash } },
})

const forksWithParameters: Partial<Record<OracleFork, readonly number[]>> = {
  holocene: [0],
  isthmus: [0],
  jovian: [1],
  azul: [1],
}

function extraDataOf(fork: OracleFork): Uint8Array {
  const version = forksWithParameters[fork]
  if (!version) return new Uint8Array(0)
  const minBaseFee = version[0] === 1 ? new Uint8Array(8) : new Uint8Array(0)
  return Uint8Array.of(...version, 0, 0, 0, onTarget.denominator, 0, 0, 0, onTarget.elasticity, ...minBaseFee)
}

export const caseAccounts = (accounts: WireCase['accounts']): Map<Address, CaseAccount> =>
  new Map(Object.entries(accounts).map(([address, account]) => [parseAddress(address), caseAccount(account)]))

function caseAccount({ nonce, balance, code, storage }: WireAccount): CaseAccount {
  const slots = Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)] as const)
  return { nonce: BigInt(nonce), balance: BigInt(balance), code: fromHex(code), storage: new Map(slots) }
}

function parentOf({ fork, block }: WireCase, view: ParentBlock['state']['view']): ParentBlock {
  const gasLimit = BigInt(block.gasLimit)
  const header: ParentBlock['header'] = {
    parentHash: zeroHash,
    ommersHash: emptyOmmersHash,
    beneficiary: parseAddress(block.beneficiary),
    stateRoot: emptyRoot,
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number: Number(block.number) - 1,
    gasLimit,
    gasUsed: gasLimit,
    timestamp: Number(block.timestamp) - 2,
    extraData: extraDataOf(fork),
    mixHash: zeroHash,
    nonce: new Uint8Array(8),
    baseFeePerGas: BigInt(block.baseFee),
  }
  return { header, hash: parseHash(block.parentHash), state: { view, nodes: noNodes } }
}

function open(given: WireCase, view: ParentBlock['state']['view']): BlockExecutor {
  const { fork, block } = given
  const isEcotone = scheduleTo(fork).ecotone !== undefined
  const opened = createBlockExecutor({ evm, config: configOf(fork), senders: { of: recoverSender } }, parentOf(given, view), {
    timestamp: Number(block.timestamp),
    beneficiary: parseAddress(block.beneficiary),
    prevRandao: parseHash(block.prevRandao),
    gasLimit: BigInt(block.gasLimit),
    extraData: extraDataOf(fork),
    ...(isEcotone && { parentBeaconBlockRoot: parseHash(block.parentBeaconBlockRoot) }),
    transactions: given.transactions.map(fromHex),
  })
  if (opened.kind === 'invalid') throw new Error(`case is not a valid block: ${opened.reason}`)
  return opened.block
}

function endOf({ receipt, gasUsed }: ExecutedTransaction): WireTransactionEnd {
  const logs = receipt.logs.map(({ address, topics, data }) => ({ address, topics, data: toHex(data) }))
  return { succeeded: receipt.succeeded, gasUsed: toQuantity(gasUsed), logs, receipt: toHex(encodeReceipt(receipt)) }
}

function takeAll(block: BlockExecutor, transactions: WireCase['transactions']): WireTransactionEnd[] {
  return transactions.map((raw) => {
    const refused = block.take(fromHex(raw))
    const executed = block.run.executed.at(-1)
    if (refused !== undefined || executed === undefined) return { refused: refused ?? 'nothing ran' }
    return endOf(executed)
  })
}

/** Executes a case as a node does. */
export function runOurs(given: WireCase): OurAnswer {
  const accounts = caseAccounts(given.accounts)
  const view = viewOf(accounts)
  const calls = (given.calls ?? []).map((call) => runCall(given, view, call))
  using block = open(given, view)
  const transactions = takeAll(block, given.transactions)
  return {
    transactions,
    block: {
      gasUsed: toQuantity(block.run.gasUsed),
      blobGasUsed: toQuantity(block.run.footprint),
      logsBloom: toHex(unionOfBlooms(block.run.executed.map(({ receipt }) => receipt))),
    },
    state: stateAfter(accounts, block.session.diff()),
    ...(calls.length > 0 && { calls }),
  }
}

function messageOf(call: WireCall): CallMessage {
  return {
    from: parseAddress(call.from),
    to: call.to === null ? null : parseAddress(call.to),
    value: BigInt(call.value),
    data: fromHex(call.data),
    gasLimit: BigInt(call.gasLimit),
    gasPrice: BigInt(call.gasPrice),
    accessList: call.accessList.map(({ address, storageKeys }) => ({ address: parseAddress(address), slots: storageKeys.map(parseHash) })),
    authorizationList: call.authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
      chainId: BigInt(chainId),
      address: parseAddress(address),
      nonce: BigInt(nonce),
      yParity: Number(yParity),
      r: BigInt(r),
      s: BigInt(s),
    })),
  }
}

/** Runs a call in a new session, as the executor behind RPC does. */
function runCall({ fork, block }: WireCase, view: ParentBlock['state']['view'], call: WireCall): WireCallEnd {
  const timestamp = Number(block.timestamp)
  const rules = evmRulesAt(scheduleTo(fork), timestamp)
  const env = {
    chainId: BigInt(chainId),
    number: Number(block.number),
    timestamp,
    beneficiary: parseAddress(block.beneficiary),
    prevRandao: parseHash(block.prevRandao),
    gasLimit: BigInt(block.gasLimit),
    baseFee: BigInt(block.baseFee),
    blobBaseFee: 1n,
  }
  using session = evm.open(view, env, rules)
  const run = runMessage({ session, env, rules }, messageOf(call))
  if (run.kind === 'refused') return { refused: run.refusal.kind }
  const { outcome, gasUsed } = run
  const created = outcome.kind === 'success' ? outcome.created : undefined
  const output = created === undefined ? outcome.output : session.code(created)
  return { kind: outcome.kind, gasUsed: toQuantity(gasUsed), output: toHex(outcome.kind === 'halt' ? new Uint8Array(0) : output) }
}

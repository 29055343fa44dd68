import type { Fork } from '#chainspec/forks'
import { toHex, toQuantity } from '#lib/hex'
import type { CallMessage } from '#rpc/callPorts'
import { signed } from '#test/harness/chain/blocks'
import type { CaseAccount } from '#test/harness/evm/case'
import { type Deposit, encodeDeposit } from '#types/deposit'
import type { Address, Hash } from '#types/ids'
import { type Authorization, encodeTransaction, type SignedTransaction } from '#types/transaction'
import type { OracleFork, WireAccount, WireAuthorization, WireCall, WireCase } from './wire.ts'

export const chainId = 901

/** `by`: name of the account that signs; the signature in `tx` is ignored. */
export type CaseTransaction =
  | { readonly kind: 'deposit'; readonly deposit: Deposit }
  | { readonly kind: 'signed'; readonly by: string; readonly tx: SignedTransaction }

export type CaseBlock = {
  readonly number: number
  /** Unix time in seconds. */
  readonly timestamp: number
  readonly beneficiary: Address
  readonly prevRandao: Hash
  readonly gasLimit: bigint
  readonly baseFee: bigint
  readonly parentHash: Hash
  readonly parentBeaconBlockRoot: Hash
}

/** A block on a state, and calls on the state before the block. */
export type BlockCase = {
  readonly fork: OracleFork & Fork
  readonly block: CaseBlock
  readonly accounts: ReadonlyMap<Address, CaseAccount>
  readonly transactions: readonly CaseTransaction[]
  readonly calls: readonly CallMessage[]
}

export function wireAccount({ nonce, balance, code, storage }: CaseAccount): WireAccount {
  const slots = [...storage].filter(([, value]) => value !== 0n)
  return {
    nonce: toQuantity(nonce),
    balance: toQuantity(balance),
    code: toHex(code),
    storage: Object.fromEntries(slots.map(([slot, value]) => [toQuantity(slot), toQuantity(value)])),
  }
}

/** Signed EIP-2718 bytes. */
export function bytesOf(transaction: CaseTransaction): Uint8Array {
  if (transaction.kind === 'deposit') return encodeDeposit(transaction.deposit)
  return encodeTransaction(signed(transaction.tx, transaction.by))
}

const wireAuthorization = ({ chainId, address, nonce, yParity, r, s }: Authorization): WireAuthorization => ({
  chainId: toQuantity(chainId),
  address,
  nonce: toQuantity(nonce),
  yParity: toQuantity(BigInt(yParity)),
  r: toQuantity(r),
  s: toQuantity(s),
})

const wireCall = (call: CallMessage): WireCall => ({
  from: call.from,
  to: call.to,
  value: toQuantity(call.value),
  data: toHex(call.data),
  gasLimit: toQuantity(call.gasLimit),
  gasPrice: toQuantity(call.gasPrice),
  accessList: call.accessList.map(({ address, slots }) => ({ address, storageKeys: slots })),
  authorizationList: call.authorizationList.map(wireAuthorization),
})

/** Converts the case to the oracle's format. */
export function wireOf({ fork, block, accounts, transactions, calls }: BlockCase): WireCase {
  return {
    fork,
    block: {
      ...block,
      number: toQuantity(BigInt(block.number)),
      timestamp: toQuantity(BigInt(block.timestamp)),
      gasLimit: toQuantity(block.gasLimit),
      baseFee: toQuantity(block.baseFee),
    },
    accounts: Object.fromEntries([...accounts].map(([address, account]) => [address, wireAccount(account)])),
    transactions: transactions.map((transaction) => toHex(bytesOf(transaction))),
    ...(calls.length > 0 && { calls: calls.map(wireCall) }),
  }
}

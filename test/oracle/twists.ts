// Changes that move a transaction to the limit of a check. They only estimate the limit: the oracle decides.
import { gasBounds } from '#block/validation/intrinsicGas'
import { feeCapOf } from '#block/validation/transactionValidity'
import { emptyBytes } from '#lib/bytes'
import { accountOf } from '#test/harness/chain/blocks'
import type { CaseAccount } from '#test/harness/evm/case'
import { addressOf } from '#test/harness/evm/host'
import { type Address, zeroAddress } from '#types/ids'
import type { LegacyTransaction, SignedTransaction } from '#types/transaction'
import { bytesOf, type CaseTransaction } from './blockCase.ts'
import { upfrontOf } from './prices.ts'
import type { Writing } from './randomCase.ts'
import { hasDelegations, rulesUnder } from './transactions.ts'

/** Transaction, and the account that the state needs for it. */
export type Twisted = { readonly transaction: CaseTransaction; readonly account?: readonly [Address, CaseAccount] }

type Fields = { gasLimit?: bigint; data?: Uint8Array; value?: bigint; to?: Address | null; nonce?: bigint }

const priced = (transaction: CaseTransaction) => (transaction.kind === 'deposit' ? transaction.deposit : transaction.tx)

/** Returns the transaction with other fields; fields that its kind does not have are dropped. */
export function withFields(transaction: CaseTransaction, fields: Fields): CaseTransaction {
  if (transaction.kind === 'deposit') {
    const { nonce: _, ...rest } = fields
    return { kind: 'deposit', deposit: { ...transaction.deposit, ...rest } }
  }
  return { ...transaction, tx: { ...transaction.tx, ...fields } as SignedTransaction }
}

const senderOf = (transaction: CaseTransaction): Address =>
  transaction.kind === 'deposit' ? transaction.deposit.from : accountOf(transaction.by)

const emptyAccount: CaseAccount = { nonce: 0n, balance: 0n, code: emptyBytes, storage: new Map() }
const around = [-1n, 0n, 1n]

/** Sets the gas limit to the intrinsic gas, or to the floor of EIP-7623. */
function gasAtBounds({ random, fork }: Writing, transaction: CaseTransaction): Twisted {
  const { intrinsic, floor } = gasBounds(rulesUnder(fork), priced(transaction))
  const gasLimit = random.pick([intrinsic, floor, intrinsic > floor ? intrinsic : floor]) + random.pick([...around, 200n, 5_000n])
  return { transaction: withFields(transaction, { gasLimit: gasLimit < 0n ? 0n : gasLimit }) }
}

/** Adds data until the floor exceeds the gas used. */
function floorAbove(writing: Writing, transaction: CaseTransaction): Twisted {
  const { random, fork } = writing
  const data = random.bytes(random.between(500, 3_000)).map((byte) => (random.percent(30) ? 0 : byte))
  const longer = withFields(transaction, { data })
  const { intrinsic, floor } = gasBounds(rulesUnder(fork), priced(longer))
  const most = intrinsic > floor ? intrinsic : floor
  return { transaction: withFields(longer, { gasLimit: most + BigInt(random.below(60_000)) }) }
}

/** Sets the gas limit to the cap of EIP-7825 or to the gas left in the block. */
function gasAtCaps({ random, block }: Writing, transaction: CaseTransaction): Twisted {
  const gasLimit = random.pick([16_777_216n, 16_777_216n, block.gasLimit, block.gasLimit - 1_000_000n]) + random.pick(around)
  return { transaction: withFields(transaction, { gasLimit }) }
}

/** Sets the initcode size around the limit of EIP-3860. */
function initcodeSize({ random }: Writing, transaction: CaseTransaction): Twisted {
  const data = new Uint8Array(random.pick([49_151, 49_152, 49_153, 60_000]))
  // the first bytes determine the end of the creation: STOP, INVALID, REVERT, RETURN of a byte
  data.set(random.pick([[0x00], [0xfe], [0x5f, 0x5f, 0xfd], [0x60, 0, 0x60, 0, 0xfd], [0x60, 1, 0x60, 0, 0xf3]]))
  return { transaction: withFields(transaction, { to: null, data, gasLimit: BigInt(random.between(500_000, 2_500_000)) }) }
}

/** Sets the sender's balance to the cost, or one wei below or above it. */
function balanceAtEdge({ random, fork, prices, accounts }: Writing, transaction: CaseTransaction): Twisted {
  const from = senderOf(transaction)
  const account = accounts.get(from) ?? emptyAccount
  const value = BigInt(random.below(1_000_000))
  const changed = withFields(transaction, { value })
  if (changed.kind === 'deposit') {
    const balance = value - changed.deposit.mint + random.pick(around)
    return { transaction: changed, account: [from, { ...account, balance: balance < 0n ? 0n : balance, nonce: account.nonce || 1n }] }
  }
  const { tx } = changed
  const price = tx.type < 2 ? (tx as LegacyTransaction).gasPrice : feeCapOf(tx)
  const cost = tx.gasLimit * price + value + upfrontOf(fork, prices, bytesOf(changed), tx.gasLimit)
  return { transaction: changed, account: [from, { ...account, balance: cost + random.pick([...around, -value]) }] }
}

function otherNonce({ random, accounts }: Writing, transaction: CaseTransaction): Twisted {
  const from = senderOf(transaction)
  const account = accounts.get(from) ?? emptyAccount
  // targeted cases cover a signed transaction with the largest nonce
  const largest = 2n ** 64n - (transaction.kind === 'deposit' ? 1n : 3n)
  const nonce = random.pick([largest, largest - 1n, 2n ** 32n])
  const changed = withFields(transaction, { nonce: nonce + random.pick(around) })
  return { transaction: random.percent(50) ? withFields(transaction, { nonce }) : changed, account: [from, { ...account, nonce }] }
}

/** Gives the sender code (EIP-3607). */
function senderWithCode({ random, fork, accounts }: Writing, transaction: CaseTransaction): Twisted {
  const from = senderOf(transaction)
  const account = accounts.get(from) ?? emptyAccount
  const delegation = Uint8Array.of(0xef, 1, 0, ...new Uint8Array(20).fill(0x22))
  const code = random.pick([
    ...(hasDelegations(fork) ? [delegation, delegation] : []),
    Uint8Array.of(0),
    Uint8Array.of(0x60, 1, 0x60, 1, 0x55),
  ])
  return { transaction, account: [from, { ...account, code, nonce: account.nonce || 1n }] }
}

/** Sets fee caps and priority fees in the wrong order, below the base fee, or very large. */
function oddPrices({ random, block }: Writing, transaction: CaseTransaction): Twisted {
  if (transaction.kind === 'deposit') return { transaction }
  const price = () =>
    random.pick([0n, block.baseFee - 1n, block.baseFee, block.baseFee + 1n, 2n ** 64n, 2n ** 127n, 2n ** 128n - 1n, 2n ** 128n])
  const fees = { maxFeePerGas: price(), maxPriorityFeePerGas: price(), gasPrice: price() }
  const clipped = Object.fromEntries(Object.entries(fees).map(([name, wei]) => [name, wei < 0n ? 0n : wei]))
  return { transaction: { ...transaction, tx: { ...transaction.tx, ...clipped } as SignedTransaction } }
}

function otherChain({ random }: Writing, transaction: CaseTransaction): Twisted {
  if (transaction.kind === 'deposit') return { transaction }
  const { chainId: _, ...tx } = transaction.tx
  const isLegacy = tx.type === 0 && random.percent(50)
  const chainId = random.pick([0n, 1n, 900n, 2n ** 32n])
  return { transaction: { ...transaction, tx: (isLegacy ? tx : { ...tx, chainId }) as SignedTransaction } }
}

function asSystem({ random }: Writing, transaction: CaseTransaction): Twisted {
  if (transaction.kind === 'signed') return { transaction }
  const { deposit } = transaction
  const mint = random.pick([deposit.mint, 2n ** 128n - 1n, 2n ** 64n])
  return { transaction: { kind: 'deposit', deposit: { ...deposit, mint, isSystemTransaction: random.percent(70) } } }
}

/** Moves a creation to an address that already has an account. */
function collision({ random, accounts }: Writing, transaction: CaseTransaction): Twisted {
  const to = random.pick([zeroAddress, addressOf(0x04), addressOf(0x22), senderOf(transaction)])
  const changed = withFields(transaction, { to: random.percent(50) ? null : to, data: random.bytes(random.below(40)) })
  return { transaction: changed, account: [senderOf(transaction), accounts.get(senderOf(transaction)) ?? emptyAccount] }
}

const twists = [
  gasAtBounds,
  gasAtBounds,
  floorAbove,
  gasAtCaps,
  initcodeSize,
  balanceAtEdge,
  balanceAtEdge,
  otherNonce,
  senderWithCode,
  oddPrices,
  otherChain,
  asSystem,
  collision,
]

/** Changes a transaction to a random limit. */
export const twist = (writing: Writing, transaction: CaseTransaction): Twisted => {
  const twisted = writing.random.pick(twists)(writing, transaction)
  return isPossible(twisted) ? twisted : { transaction }
}

/** False for an empty account, which no chain has. */
const isPossible = ({ account }: Twisted): boolean =>
  account === undefined || account[1].nonce > 0n || account[1].balance > 0n || account[1].code.length > 0

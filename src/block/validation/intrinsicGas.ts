import { type EvmRules, hasFork, hasOldFork } from '#chainspec/evmRules'
import type { Outcome } from '#evm/ports'
import type { Address } from '#types/ids'
import type { AccessList } from '#types/transaction'

/** Gas; EIP-2028, EIP-2930, EIP-3860, EIP-7623 and EIP-7702 name the prices. */
const price = {
  transaction: 21_000,
  creation: 32_000,
  zeroByte: 4,
  otherByte: 16,
  /** before EIP-2028 */
  oldOtherByte: 68,
  initcodeWord: 2,
  listedAddress: 2_400,
  listedSlot: 1_900,
  authorization: 25_000,
  floorToken: 10,
} as const

/** Bytes; EIP-3860. */
const maxInitcodeSize = 49_152
/** EIP-3529 */
const maxRefundQuotient = 5n
const oldMaxRefundQuotient = 2n

/** The part of the gas that ran which a refund may give back at most, as its divisor. */
export const refundQuotient = (rules: EvmRules): bigint => (hasOldFork(rules, 'london') ? maxRefundQuotient : oldMaxRefundQuotient)

/** What the price of a transaction depends on; a deposit is one too. */
export type Priced = {
  readonly to: Address | null
  readonly data: Uint8Array
  readonly gasLimit: bigint
  readonly accessList?: AccessList
  readonly authorizationList?: readonly unknown[]
}

function zeroBytes(data: Uint8Array): number {
  let zeros = 0
  for (let i = 0; i < data.length; i++) if (data[i] === 0) zeros++
  return zeros
}

/** What the bytes of a transaction cost, in gas. */
export type GasBounds = {
  /** gone before the first instruction */
  readonly intrinsic: bigint
  /** the least that is paid for in the end; zero before Prague (EIP-7623) */
  readonly floor: bigint
}

export function gasBounds(rules: EvmRules, tx: Priced): GasBounds {
  const zeros = zeroBytes(tx.data)
  return { intrinsic: intrinsicOf(rules, tx, zeros), floor: floorOf(rules, tx.data, zeros) }
}

/** Gas that is gone before the first instruction. */
export function intrinsicGas(rules: EvmRules, tx: Priced): bigint {
  return intrinsicOf(rules, tx, zeroBytes(tx.data))
}

function intrinsicOf(rules: EvmRules, tx: Priced, zeros: number): bigint {
  const otherByte = hasOldFork(rules, 'istanbul') ? price.otherByte : price.oldOtherByte
  let sum = price.transaction + zeros * price.zeroByte + (tx.data.length - zeros) * otherByte
  if (tx.to === null && hasOldFork(rules, 'homestead')) sum += price.creation
  if (tx.to === null && hasFork(rules, 'shanghai')) sum += Math.ceil(tx.data.length / 32) * price.initcodeWord
  for (const { slots } of tx.accessList ?? []) sum += price.listedAddress + slots.length * price.listedSlot
  sum += (tx.authorizationList?.length ?? 0) * price.authorization
  return BigInt(sum)
}

/** The least gas that a transaction pays for in the end; zero before Prague (EIP-7623). */
export function floorGas(rules: EvmRules, tx: Priced): bigint {
  return floorOf(rules, tx.data, zeroBytes(tx.data))
}

function floorOf(rules: EvmRules, data: Uint8Array, zeros: number): bigint {
  if (!hasFork(rules, 'prague')) return 0n
  return BigInt(price.transaction + (zeros + 4 * (data.length - zeros)) * price.floorToken)
}

/** EIP-3860 */
export function initcodeRefusal(rules: EvmRules, tx: Priced): string | undefined {
  const isTooLong = tx.to === null && tx.data.length > maxInitcodeSize && hasFork(rules, 'shanghai')
  return isTooLong ? `max initcode size exceeded: ${tx.data.length} > ${maxInitcodeSize}` : undefined
}

/**
 * Gas to pay for: what ran, less the refund (a fifth at most, EIP-3529), and not below the floor (EIP-7623).
 * @param floor of the transaction
 * @param earlierRefund gas for the refund counter from before the message ran (EIP-7702)
 * @param quotient that of `refundQuotient`
 */
export function gasAfterRefund(
  gasLimit: bigint,
  floor: bigint,
  outcome: Outcome,
  earlierRefund = 0n,
  quotient: bigint = maxRefundQuotient,
): bigint {
  const ran = gasLimit - outcome.gasLeft
  const most = ran / quotient
  const refund = outcome.gasRefund + earlierRefund
  const used = ran - (refund < most ? refund : most)
  return used > floor ? used : floor
}

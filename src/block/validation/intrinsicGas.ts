import { type EvmRules, hasFork } from '#chainspec/evmRules'
import type { Outcome } from '#evm/ports'
import type { Address } from '#types/ids'
import type { AccessList } from '#types/transaction'

/** Prices in gas; EIP-2028, EIP-2930, EIP-3860, EIP-7623 and EIP-7702. */
const price = {
  transaction: 21_000,
  creation: 32_000,
  zeroByte: 4,
  otherByte: 16,
  initcodeWord: 2,
  listedAddress: 2_400,
  listedSlot: 1_900,
  authorization: 25_000,
  floorToken: 10,
} as const

/** Maximum size of initcode in bytes; EIP-3860. */
const maxInitcodeSize = 49_152
/** Divisor of the maximum refund; EIP-3529 */
const maxRefundQuotient = 5n

/** Fields of a transaction or deposit that determine its intrinsic gas. */
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

/** Lower bounds of the gas of a transaction, in gas. */
export type GasBounds = {
  /** charged before the first instruction */
  readonly intrinsic: bigint
  /** minimum that the transaction pays for; zero before Prague (EIP-7623) */
  readonly floor: bigint
}

/** Returns both lower bounds of a transaction, in gas. */
export function gasBounds(rules: EvmRules, tx: Priced): GasBounds {
  const zeros = zeroBytes(tx.data)
  return { intrinsic: intrinsicOf(rules, tx, zeros), floor: floorOf(rules, tx.data, zeros) }
}

/** Gas that is charged before the first instruction. */
export function intrinsicGas(rules: EvmRules, tx: Priced): bigint {
  return intrinsicOf(rules, tx, zeroBytes(tx.data))
}

function intrinsicOf(rules: EvmRules, tx: Priced, zeros: number): bigint {
  let sum = price.transaction + zeros * price.zeroByte + (tx.data.length - zeros) * price.otherByte
  if (tx.to === null) sum += price.creation
  if (tx.to === null && hasFork(rules, 'shanghai')) sum += Math.ceil(tx.data.length / 32) * price.initcodeWord
  for (const { slots } of tx.accessList ?? []) sum += price.listedAddress + slots.length * price.listedSlot
  sum += (tx.authorizationList?.length ?? 0) * price.authorization
  return BigInt(sum)
}

/** Minimum gas that a transaction pays for; zero before Prague (EIP-7623). */
export function floorGas(rules: EvmRules, tx: Priced): bigint {
  return floorOf(rules, tx.data, zeroBytes(tx.data))
}

function floorOf(rules: EvmRules, data: Uint8Array, zeros: number): bigint {
  if (!hasFork(rules, 'prague')) return 0n
  return BigInt(price.transaction + (zeros + 4 * (data.length - zeros)) * price.floorToken)
}

/** Returns why the initcode is too long, or undefined. @see EIP-3860 */
export function initcodeRefusal(rules: EvmRules, tx: Priced): string | undefined {
  const isTooLong = tx.to === null && tx.data.length > maxInitcodeSize && hasFork(rules, 'shanghai')
  return isTooLong ? `max initcode size exceeded: ${tx.data.length} > ${maxInitcodeSize}` : undefined
}

/**
 * Returns the gas that the sender pays for: the gas used less the refund (at most a fifth, EIP-3529), and at least the floor (EIP-7623).
 * @param floor the transaction's floor, in gas
 * @param earlierRefund gas that the refund counter held before the message ran (EIP-7702)
 */
export function gasAfterRefund(gasLimit: bigint, floor: bigint, outcome: Outcome, earlierRefund = 0n): bigint {
  const ran = gasLimit - outcome.gasLeft
  const most = ran / maxRefundQuotient
  const refund = outcome.gasRefund + earlierRefund
  const used = ran - (refund < most ? refund : most)
  return used > floor ? used : floor
}

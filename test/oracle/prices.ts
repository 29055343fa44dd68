import { estimatedSizeMillionths, l1DataFee, l1FeeRuleAt } from '#block/fees/l1DataFee'
import { operatorFee, operatorFeeRuleAt } from '#block/fees/operatorFee'
import { l1BlockAddress } from '#chainspec/addresses'
import { isActive } from '#chainspec/forks'
import { emptyBytes } from '#lib/bytes'
import { scheduleTo } from '#test/harness/chain/blocks'
import type { CaseAccount } from '#test/harness/evm/case'
import type { Address } from '#types/ids'
import type { Random } from '../fuzz/evm/random.ts'
import type { OracleFork } from './wire.ts'

/** Prices in L1Block. Scalars of Ecotone and of the operator fee are u32, the constant is u64, the footprint scalar is u16. */
export type Prices = {
  readonly baseFee: bigint
  readonly blobBaseFee: bigint
  readonly overhead: bigint
  readonly scalar: bigint
  readonly baseFeeScalar: bigint
  readonly blobBaseFeeScalar: bigint
  readonly operatorScalar: bigint
  readonly operatorConstant: bigint
  readonly footprintScalar: bigint
}

export const usualPrices: Prices = {
  baseFee: 20_000_000_000n,
  blobBaseFee: 7n,
  overhead: 188n,
  scalar: 684_000n,
  baseFeeScalar: 1_368n,
  blobBaseFeeScalar: 810_949n,
  operatorScalar: 2_000n,
  operatorConstant: 77n,
  footprintScalar: 400n,
}

/** Usual prices in half of the cases, else prices at their limits. */
export function randomPrices(random: Random): Prices {
  if (random.percent(50)) return usualPrices
  const amount = (bits: number): bigint =>
    random.pick([0n, 1n, 400n, BigInt(random.below(1_000_000)), (1n << BigInt(bits)) - 1n, random.word() >> BigInt(256 - bits)])
  return {
    baseFee: amount(40),
    // the oracle charges no L1 fee when this and both scalars are zero: `exclusions.ts`
    blobBaseFee: amount(40) + 1n,
    overhead: amount(16),
    scalar: amount(24),
    baseFeeScalar: amount(32),
    blobBaseFeeScalar: amount(32),
    operatorScalar: amount(random.percent(90) ? 16 : 32),
    operatorConstant: amount(random.percent(90) ? 40 : 64),
    footprintScalar: amount(16),
  }
}

/** L1Block account with the prices in its slots and no code. Its nonce makes it non-empty. */
export function l1BlockAccount(prices: Prices): CaseAccount {
  const packed = (prices.baseFeeScalar << 96n) | (prices.blobBaseFeeScalar << 64n) | 3n
  const operator = (prices.footprintScalar << 96n) | (prices.operatorScalar << 64n) | prices.operatorConstant
  const slots: [bigint, bigint][] = [
    [1n, prices.baseFee],
    [3n, packed],
    [5n, prices.overhead],
    [6n, prices.scalar],
    [7n, prices.blobBaseFee],
    [8n, operator],
  ]
  return { nonce: 1n, balance: 0n, code: emptyBytes, storage: new Map(slots.filter(([, value]) => value !== 0n)) }
}

export const withPrices = (accounts: ReadonlyMap<Address, CaseAccount>, prices: Prices): Map<Address, CaseAccount> =>
  new Map(accounts).set(l1BlockAddress, l1BlockAccount(prices))

/** Estimate of a transaction's cost besides gas and value, in wei; used to choose a balance near the limit. */
export function upfrontOf(fork: OracleFork, prices: Prices, raw: Uint8Array, gasLimit: bigint): bigint {
  const schedule = scheduleTo(fork)
  const isEcotone = isActive(schedule, 'ecotone', 0)
  const params = {
    ...prices,
    ...(!isEcotone && { blobBaseFee: 0n, baseFeeScalar: 0n, blobBaseFeeScalar: 0n }),
  }
  const operator = operatorFee(
    operatorFeeRuleAt(schedule, 0),
    { scalar: prices.operatorScalar, constant: prices.operatorConstant },
    gasLimit,
  )
  return l1DataFee(l1FeeRuleAt(schedule, 0, params), params, raw).fee + operator
}

/** Estimate of the gas that a transaction adds to the DA footprint. */
export const footprintOf = (prices: Prices, raw: Uint8Array): bigint => (estimatedSizeMillionths(raw) / 1_000_000n) * prices.footprintScalar

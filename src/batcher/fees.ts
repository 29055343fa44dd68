import type { L1Tip } from './ports.ts'

/** Fees of a transaction: wei per gas, wei per blob gas (0 without blobs). */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly maxFeePerBlobGas: bigint }

export type FeeBounds = { readonly priorityFeeWei: bigint; readonly maxFeePerGasWei: bigint; readonly maxFeePerBlobGasWei: bigint }

export type CarrierKind = 'calldata' | 'blobs'
type Prices = Pick<L1Tip, 'baseFeeWei' | 'blobBaseFeeWei'>

/** Factor on the base fee: enough for about six consecutive full blocks. */
const headroom = 2n
/** Minimum fees of a replacement in L1 pools, in percent of the replaced fees. */
const bumpPercent: Readonly<Record<CarrierKind, bigint>> = { calldata: 110n, blobs: 200n }

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Returns fees for the next L1 blocks, within the limits. Pure. */
export function freshFees(kind: CarrierKind, prices: Prices, bounds: FeeBounds): Fees {
  const maxFeePerGas = least(prices.baseFeeWei * headroom + bounds.priorityFeeWei, bounds.maxFeePerGasWei)
  const blobFee = least(most(prices.blobBaseFeeWei * headroom, 1n), bounds.maxFeePerBlobGasWei)
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: least(bounds.priorityFeeWei, maxFeePerGas),
    maxFeePerBlobGas: kind === 'blobs' ? blobFee : 0n,
  }
}

/**
 * Returns fees with which L1 pools replace a transaction that offers `before`: each is raised by at least the pool's percentage, and to the current
 * price. Pure.
 * @returns undefined when a limit is too low
 * @see EIP-4844, "Mempool": replacing a blob transaction costs twice as much
 */
export function replacementFees(kind: CarrierKind, before: Fees, prices: Prices, bounds: FeeBounds): Fees | undefined {
  const fresh = freshFees(kind, prices, bounds)
  const raised = (fee: bigint): bigint => (fee * bumpPercent[kind] + 99n) / 100n
  const next: Fees = {
    maxFeePerGas: most(raised(before.maxFeePerGas), fresh.maxFeePerGas),
    maxPriorityFeePerGas: most(raised(before.maxPriorityFeePerGas), fresh.maxPriorityFeePerGas),
    maxFeePerBlobGas: most(raised(before.maxFeePerBlobGas), fresh.maxFeePerBlobGas),
  }
  if (next.maxFeePerGas > bounds.maxFeePerGasWei || next.maxFeePerBlobGas > bounds.maxFeePerBlobGasWei) return undefined
  return { ...next, maxPriorityFeePerGas: least(next.maxPriorityFeePerGas, next.maxFeePerGas) }
}

/** Returns whether these fees are too low for the next L1 block. Pure. */
export function isBelowPrice(kind: CarrierKind, fees: Fees, prices: Prices): boolean {
  return fees.maxFeePerGas < prices.baseFeeWei || (kind === 'blobs' && fees.maxFeePerBlobGas < prices.blobBaseFeeWei)
}

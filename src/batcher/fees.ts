import type { L1Tip } from './ports.ts'

/** What a transaction offers: wei per gas, wei per blob gas (0 without blobs). */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly maxFeePerBlobGas: bigint }

export type FeeBounds = { readonly priorityFeeWei: bigint; readonly maxFeePerGasWei: bigint; readonly maxFeePerBlobGasWei: bigint }

export type CarrierKind = 'calldata' | 'blobs'
type Prices = Pick<L1Tip, 'baseFeeWei' | 'blobBaseFeeWei'>

/** Room for six full blocks on end. */
const headroom = 2n
/** What pools of L1 ask of a replacement, in percent of what it replaces. */
const bumpPercent: Readonly<Record<CarrierKind, bigint>> = { calldata: 110n, blobs: 200n }

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Fees for the next L1 blocks, within the bounds. Pure. */
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
 * Fees with which pools take a transaction in the place of one that offers `before`: each is raised by the pool's share at least, and to what
 * the moment asks. Pure.
 * @returns undefined: a bound is in the way
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

/** Whether the next L1 block cannot include what offers these fees. Pure. */
export function isBelowPrice(kind: CarrierKind, fees: Fees, prices: Prices): boolean {
  return fees.maxFeePerGas < prices.baseFeeWei || (kind === 'blobs' && fees.maxFeePerBlobGas < prices.blobBaseFeeWei)
}

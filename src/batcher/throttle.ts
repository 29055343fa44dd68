import type { DataThrottle } from './ports.ts'

/** Bytes that a transaction and a block may have: before the backlog passes its threshold, and at twice the threshold. */
const widest: DataThrottle = { maxTransactionBytes: 20_000, maxBlockBytes: 130_000 }
const narrowest: DataThrottle = { maxTransactionBytes: 150, maxBlockBytes: 2_000 }
/** The limits move in steps, so that the sequencer is not told of each block. */
const steps = 16

const between = (wide: number, narrow: number, intensity: number): number => Math.round(wide - (wide - narrow) * intensity)

/**
 * Limits that fall linearly while the backlog grows from the threshold to twice as much. Pure.
 * @param thresholdBytes 0: there are never limits
 * @returns undefined below the threshold
 */
export function throttleFor(backlogBytes: number, thresholdBytes: number): DataThrottle | undefined {
  if (thresholdBytes === 0 || backlogBytes <= thresholdBytes) return undefined
  const intensity = Math.min(1, Math.ceil(((backlogBytes - thresholdBytes) / thresholdBytes) * steps) / steps)
  return {
    maxTransactionBytes: between(widest.maxTransactionBytes, narrowest.maxTransactionBytes, intensity),
    maxBlockBytes: between(widest.maxBlockBytes, narrowest.maxBlockBytes, intensity),
  }
}

export function isSameThrottle(a: DataThrottle | undefined, b: DataThrottle | undefined): boolean {
  return a?.maxBlockBytes === b?.maxBlockBytes && a?.maxTransactionBytes === b?.maxTransactionBytes
}

/** How far the limits go: 0 there are none, 1 the narrowest. */
export function throttleRatio(limits: DataThrottle | undefined): number {
  if (limits === undefined) return 0
  return (widest.maxBlockBytes - limits.maxBlockBytes) / (widest.maxBlockBytes - narrowest.maxBlockBytes)
}

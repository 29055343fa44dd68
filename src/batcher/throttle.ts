import type { DataThrottle } from './ports.ts'

/** Limits of a transaction and of a block in bytes: just above the threshold of the backlog, and at twice the threshold. */
const widest: DataThrottle = { maxTransactionBytes: 20_000, maxBlockBytes: 130_000 }
const narrowest: DataThrottle = { maxTransactionBytes: 150, maxBlockBytes: 2_000 }
/** Number of steps of the limits, so that the sequencer does not get a new limit with each block. */
const steps = 16

const between = (wide: number, narrow: number, intensity: number): number => Math.round(wide - (wide - narrow) * intensity)

/**
 * Returns limits that fall linearly while the backlog grows from the threshold to twice the threshold. Pure.
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

/** Returns the strength of the limits: 0 none, 1 the narrowest. */
export function throttleRatio(limits: DataThrottle | undefined): number {
  if (limits === undefined) return 0
  return (widest.maxBlockBytes - limits.maxBlockBytes) / (widest.maxBlockBytes - narrowest.maxBlockBytes)
}

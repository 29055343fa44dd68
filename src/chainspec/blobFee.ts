import type { Header } from '#types/header'

/** Update fractions of the blob base fee. @see EIP-4844, EIP-7691, EIP-7892 */
const cancun = 3_338_477n
const prague = 5_007_716n
const bpo1 = 8_346_193n
const bpo2 = 11_684_671n

type Change = { readonly fromSec: number; readonly fraction: bigint }

/** Changes of the update fraction on the public L1 chains, latest first. Osaka itself kept Prague's fraction. */
const changes: Readonly<Record<number, readonly Change[]>> = {
  1: [
    { fromSec: 1_767_747_671, fraction: bpo2 },
    { fromSec: 1_765_290_071, fraction: bpo1 },
    { fromSec: 1_746_612_311, fraction: prague },
  ],
  11155111: [
    { fromSec: 1_761_607_008, fraction: bpo2 },
    { fromSec: 1_761_017_184, fraction: bpo1 },
    { fromSec: 1_741_159_776, fraction: prague },
  ],
  560048: [
    { fromSec: 1_762_955_544, fraction: bpo2 },
    { fromSec: 1_762_365_720, fraction: bpo1 },
    { fromSec: 1_742_999_832, fraction: prague },
  ],
}

/** Rollup config fields that determine L1's blob fee. */
export type BlobFeeRules = { readonly l1ChainId: number; readonly pectraBlobScheduleTimeSec?: number }

function updateFraction(rules: BlobFeeRules, l1: Header): bigint {
  if (rules.pectraBlobScheduleTimeSec !== undefined && l1.timestamp < rules.pectraBlobScheduleTimeSec) return cancun
  const known = changes[rules.l1ChainId]
  if (known) return known.find(({ fromSec }) => l1.timestamp >= fromSec)?.fraction ?? cancun
  return l1.requestsHash === undefined ? cancun : prague
}

/**
 * Computes e^(numerator / denominator) as a Taylor series, rounded down. With excess blob gas and the update fraction, the result is wei per blob
 * gas. @see EIP-4844, fake_exponential
 */
export function exponential(numerator: bigint, denominator: bigint): bigint {
  let output = 0n
  let term = denominator
  for (let i = 1n; term > 0n; i++) {
    output += term
    term = (term * numerator) / (denominator * i)
  }
  return output / denominator
}

/**
 * Returns L1's blob base fee as L2 computes it.
 * On an unknown L1 the header distinguishes Cancun from Prague; parameters of later forks cannot be read from a header.
 * @param l1 header of the L1 origin
 * @returns wei per blob gas; 1 before blobs
 * @see EIP-4844; specs protocol/isthmus, "Pectra blob schedule"
 */
export function blobBaseFee(rules: BlobFeeRules, l1: Header): bigint {
  return l1.excessBlobGas === undefined ? 1n : exponential(l1.excessBlobGas, updateFraction(rules, l1))
}

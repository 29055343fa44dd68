import type { L1Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import { type BlobParams, type BlobSchedule, blobParamsIn, cancunBlobs, knownBlobSchedules, pragueBlobs } from './blobSchedule.ts'
import { chainFault } from './faults.ts'

/** Blob gas of one blob; EIP-4844. */
export const gasPerBlob = 131_072n
/** Execution gas that prices a blob; EIP-7918. */
const blobBaseCost = 8_192n

/** Rollup config fields that determine L1's blob fee. */
export type BlobFeeRules = {
  readonly l1ChainId: number
  readonly pectraBlobScheduleTimeSec?: number
  /** From the operator's chain config of L1; absent: the built-in schedule of the chain id. */
  readonly l1BlobSchedule?: BlobSchedule
}

/** Returns the blob schedule of L1 in use: the configured one, or the built-in one of its chain id; undefined when there is neither. */
export const blobScheduleOf = ({ l1ChainId, l1BlobSchedule }: BlobFeeRules): BlobSchedule | undefined =>
  l1BlobSchedule ?? knownBlobSchedules[l1ChainId]

/** Returns parameters for an L1 without a schedule: the header distinguishes Cancun from Prague, not later forks. */
const guessedParams = ({ requestsHash }: Header): BlobParams => (requestsHash === undefined ? cancunBlobs : pragueBlobs)

function updateFraction(rules: BlobFeeRules, l1: Header): bigint {
  const { pectraBlobScheduleTimeSec } = rules
  if (pectraBlobScheduleTimeSec !== undefined && l1.timestamp < pectraBlobScheduleTimeSec) return cancunBlobs.updateFraction
  const schedule = blobScheduleOf(rules)
  const params = schedule ? (blobParamsIn(schedule, l1.timestamp) ?? cancunBlobs) : guessedParams(l1)
  return params.updateFraction
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
 * @param l1 header of the L1 origin
 * @returns wei per blob gas; 1 before blobs
 * @see EIP-4844; specs protocol/isthmus, "Pectra blob schedule"
 */
export function blobBaseFee(rules: BlobFeeRules, l1: Header): bigint {
  return l1.excessBlobGas === undefined ? 1n : exponential(l1.excessBlobGas, updateFraction(rules, l1))
}

/**
 * Returns the excess blob gas of a block's child by the child's parameters.
 * @param hasFloor whether EIP-7918 applies: while blob gas is cheaper than the execution gas of a blob, the excess rises by a share of the used blob
 * gas, instead of changing by the difference of used and target
 * @see EIP-4844, "calc_excess_blob_gas"; EIP-7691; EIP-7918
 */
export function excessBlobGasAfter(parent: Header, params: BlobParams, hasFloor: boolean): bigint {
  const { excessBlobGas = 0n, blobGasUsed = 0n, baseFeePerGas = 0n } = parent
  const target = BigInt(params.target) * gasPerBlob
  if (excessBlobGas + blobGasUsed < target) return 0n
  if (hasFloor && blobBaseCost * baseFeePerGas > gasPerBlob * exponential(excessBlobGas, params.updateFraction)) {
    return excessBlobGas + (blobGasUsed * BigInt(params.max - params.target)) / BigInt(params.max)
  }
  return excessBlobGas + blobGasUsed - target
}

/**
 * Rejects an L1 block whose blob gas does not follow from its parent under the blob schedule. The schedule is then outdated, and its blob fees would
 * be wrong. The check is necessary but not sufficient: parameters show only in blocks with enough blobs. On an L1 without a schedule, blocks
 * without excess blob gas pass, because anvil adds no excess above the target.
 * @param block child of `parent`
 * @throws Fault L1_BLOB_SCHEDULE (fatal)
 */
export function verifyBlobGas(rules: BlobFeeRules, parent: Header, block: { readonly ref: L1Ref; readonly header: Header }): void {
  const { excessBlobGas, blobGasUsed = 0n, timestamp } = block.header
  if (excessBlobGas === undefined) return
  const { number, hash } = block.ref
  const refused = (reason: string): Error => chainFault('L1_BLOB_SCHEDULE', { number, hash, l1ChainId: rules.l1ChainId, reason })
  const schedule = blobScheduleOf(rules)
  // without excess the fee is 1 with any parameters
  if (schedule === undefined && excessBlobGas === 0n) return
  const params = schedule ? blobParamsIn(schedule, timestamp) : guessedParams(block.header)
  if (params === undefined) throw refused('it has blob gas before the first fork with blobs')
  if (blobGasUsed > BigInt(params.max) * gasPerBlob)
    throw refused(`it has ${blobGasUsed / gasPerBlob} blobs, and ${params.max} are the most`)
  const floors = schedule ? [timestamp >= (schedule.osakaSec ?? Number.POSITIVE_INFINITY)] : [false, true]
  const expected = floors.map((hasFloor) => excessBlobGasAfter(parent, params, hasFloor))
  if (!expected.includes(excessBlobGas)) throw refused(`its excess blob gas is ${excessBlobGas}, not ${expected.join(' or ')}`)
}

import type { Header } from '#types/header'
import { exponential } from './blobFee.ts'
import { blobParamsAt, type EthereumSchedule, followsEthereum } from './ethereumSchedule.ts'

/** Blob gas of one blob; EIP-4844. */
export const gasPerBlob = 131_072n
/** Execution gas that prices a blob; EIP-7918. */
const blobBaseCost = 8_192n

/** Returns the price of a block in wei per blob gas; 0 before Cancun. @see EIP-4844, "Gas accounting"; EIP-7892 */
export function blobGasPrice(schedule: EthereumSchedule, { timestamp, excessBlobGas = 0n }: Header): bigint {
  const params = blobParamsAt(schedule, timestamp)
  return params ? exponential(excessBlobGas, params.updateFraction) : 0n
}

/**
 * Returns the excess blob gas of a block's child by the child's parameters; 0 before Cancun. From Osaka on, the excess falls more slowly while blob
 * gas
 * is cheaper than the execution gas of a blob.
 * @param timestamp of the child, seconds
 * @see EIP-4844, "calc_excess_blob_gas"; EIP-7691; EIP-7918
 */
export function childExcessBlobGas(schedule: EthereumSchedule, parent: Header, timestamp: number): bigint {
  const params = blobParamsAt(schedule, timestamp)
  if (params === undefined) return 0n
  const { excessBlobGas = 0n, blobGasUsed = 0n, baseFeePerGas = 0n } = parent
  const target = BigInt(params.target) * gasPerBlob
  if (excessBlobGas + blobGasUsed < target) return 0n
  const isOsaka = followsEthereum(schedule, 'osaka', { number: parent.number + 1, timestamp })
  if (isOsaka && blobBaseCost * baseFeePerGas > gasPerBlob * exponential(excessBlobGas, params.updateFraction)) {
    return excessBlobGas + (blobGasUsed * BigInt(params.max - params.target)) / BigInt(params.max)
  }
  return excessBlobGas + blobGasUsed - target
}

import { excessBlobGasAfter, exponential } from '#chainspec/blobFee'
import type { Header } from '#types/header'
import { blobParamsAt, type EthereumSchedule, followsEthereum } from './schedule.ts'

/** Returns the price of a block in wei per blob gas; 0 before Cancun. @see EIP-4844, "Gas accounting"; EIP-7892 */
export function blobGasPrice(schedule: EthereumSchedule, { timestamp, excessBlobGas = 0n }: Header): bigint {
  const params = blobParamsAt(schedule, timestamp)
  return params ? exponential(excessBlobGas, params.updateFraction) : 0n
}

/**
 * Returns the excess blob gas of a block's child by the child's parameters; 0 before Cancun. From Osaka on, EIP-7918 applies.
 * @param timestamp of the child, seconds
 */
export function childExcessBlobGas(schedule: EthereumSchedule, parent: Header, timestamp: number): bigint {
  const params = blobParamsAt(schedule, timestamp)
  if (params === undefined) return 0n
  return excessBlobGasAfter(parent, params, followsEthereum(schedule, 'osaka', { number: parent.number + 1, timestamp }))
}

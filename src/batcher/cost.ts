import { gasPerBlob } from '#chainspec/blobFee'
import { blobFrameBytes } from '#derive/batchEncoder'
import type { CarrierKind } from './fees.ts'
import type { L1Tip } from './ports.ts'

const transactionGas = 21_000
/** Floor gas of a token of calldata. A zero byte is one token, any other byte is four. @see EIP-7623 */
const floorGasPerToken = 10
const tokensPerByte = 4

/** Returns the gas of a transaction that only carries calldata: the floor of EIP-7623, which exceeds the earlier price. */
export function calldataGas(data: Uint8Array): bigint {
  let zeros = 0
  for (const byte of data) if (byte === 0) zeros++
  return BigInt(transactionGas + floorGasPerToken * (zeros + tokensPerByte * (data.length - zeros)))
}

/** Gas of a transaction that only carries blobs, without its blob gas. */
export const blobTransactionGas: bigint = BigInt(transactionGas)

type Limits = { readonly maxCalldataBytes: number; readonly maxBlobsPerTransaction: number }

/**
 * Returns the cost of posting a channel as calldata and as blobs, in wei. It treats all compressed bytes as non-zero. Pure.
 * @param channelBytes compressed
 */
export function carrierCosts(
  channelBytes: number,
  prices: Pick<L1Tip, 'baseFeeWei' | 'blobBaseFeeWei'>,
  priorityFeeWei: bigint,
  limits: Limits,
): Readonly<Record<CarrierKind, bigint>> {
  const gasPrice = prices.baseFeeWei + priorityFeeWei
  const transactions = Math.max(1, Math.ceil(channelBytes / limits.maxCalldataBytes))
  const calldata = transactions * transactionGas + channelBytes * floorGasPerToken * tokensPerByte
  const blobs = Math.max(1, Math.ceil(channelBytes / blobFrameBytes))
  const blobTransactions = Math.ceil(blobs / limits.maxBlobsPerTransaction)
  return {
    calldata: BigInt(calldata) * gasPrice,
    blobs: BigInt(blobTransactions * transactionGas) * gasPrice + BigInt(blobs) * gasPerBlob * prices.blobBaseFeeWei,
  }
}

import { blobFrameBytes } from '#derive/batchEncoder'
import type { CarrierKind } from './fees.ts'
import type { L1Tip } from './ports.ts'

const transactionGas = 21_000
/** Gas of a token of calldata where nothing else is done: a zero byte is one token, any other four. @see EIP-7623 */
const floorGasPerToken = 10
const tokensPerByte = 4
/** EIP-4844 */
const gasPerBlob = 131_072n

/** Gas of a transaction that does nothing but carry calldata, by the floor of EIP-7623 (above what it cost before). */
export function calldataGas(data: Uint8Array): bigint {
  let zeros = 0
  for (const byte of data) if (byte === 0) zeros++
  return BigInt(transactionGas + floorGasPerToken * (zeros + tokensPerByte * (data.length - zeros)))
}

/** Gas of a transaction that carries blobs alone; that of the blobs is apart. */
export const blobTransactionGas: bigint = BigInt(transactionGas)

type Limits = { readonly maxCalldataBytes: number; readonly maxBlobsPerTransaction: number }

/**
 * What it costs to post a channel, in wei, as calldata and in blobs. Compressed bytes are taken for non-zero. Pure.
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

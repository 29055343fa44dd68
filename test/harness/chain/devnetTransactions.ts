import type { Hex } from 'viem'
import { fromHex } from '#lib/hex'
import { parseAddress } from '#types/ids'
import { signTransaction, wrapBlobTransaction } from '#types/signing'
import { batcher, provenBlob } from '../l1/devnetL1.ts'

export const inbox = parseAddress(`0xff${'00'.repeat(18)}01`)

/** Fees in wei per gas that are enough for the first blocks of a devnet. */
export const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }

/** Transfer or call, signed by the code under test. @param more `times`: percent of the usual fees */
export function signed(
  key: Hex,
  nonce: bigint,
  more: { to?: Hex; data?: Uint8Array; value?: bigint; times?: bigint; gasLimit?: bigint; chainId?: bigint } = {},
) {
  const { to = inbox, data = new Uint8Array(), value = 0n, times = 100n, gasLimit = 200_000n, chainId = 900n } = more
  return signTransaction(
    {
      type: 2,
      chainId,
      nonce,
      gasLimit,
      to: parseAddress(to),
      value,
      data,
      accessList: [],
      maxFeePerGas: (fees.maxFeePerGas * times) / 100n,
      maxPriorityFeePerGas: (fees.maxPriorityFeePerGas * times) / 100n,
    },
    fromHex(key),
  )
}

/** Batcher transaction with one blob. */
export function signedBlob(nonce: bigint, times = 100n) {
  const prices = {
    maxFeePerGas: (fees.maxFeePerGas * times) / 100n,
    maxPriorityFeePerGas: (fees.maxPriorityFeePerGas * times) / 100n,
    maxFeePerBlobGas: (10n ** 9n * times) / 100n,
  }
  const { raw, hash } = signTransaction(
    {
      type: 3,
      chainId: 900n,
      nonce,
      gasLimit: 21_000n,
      to: inbox,
      value: 0n,
      data: new Uint8Array(),
      accessList: [],
      blobVersionedHashes: [provenBlob.hash],
      ...prices,
    },
    fromHex(batcher),
  )
  return { hash, raw, wrapped: wrapBlobTransaction(raw, provenBlob.sidecar) }
}

import { emptyBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { versionedHashOfCommitment } from '#lib/kzg/kzg'
import { hashFromBytes, zeroAddress } from '#types/ids'
import { signTransaction, wrapBlobTransaction } from '#types/signing'

/** Key of an account without ether. */
const poorKey = new Uint8Array(32).fill(7)

/**
 * Returns a blob transaction that no chain accepts, because its sender cannot pay. Validating it makes anvil load its KZG setup, 2.5 s of CPU time
 * that the batcher's first blob would wait for otherwise. The blob is zeros, so commitment and proof are the point at infinity.
 * @returns its network form in hex
 */
export function warmUpTransaction(chainId: number): string {
  const infinity = new Uint8Array(48)
  infinity[0] = 0xc0
  const { raw } = signTransaction(
    {
      type: 3,
      chainId: BigInt(chainId),
      nonce: 0n,
      gasLimit: 21_000n,
      to: zeroAddress,
      value: 0n,
      data: emptyBytes,
      accessList: [],
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 1n,
      maxFeePerBlobGas: 10n ** 12n,
      blobVersionedHashes: [hashFromBytes(versionedHashOfCommitment(infinity))],
    },
    poorKey,
  )
  return toHex(wrapBlobTransaction(raw, { kind: 'blobs', blobs: [new Uint8Array(131_072)], commitments: [infinity], proofs: [infinity] }))
}

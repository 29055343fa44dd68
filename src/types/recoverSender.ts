import { recoverAddress, secp256k1HalfOrder } from '#lib/secp256k1'
import { type Address, addressFromBytes } from './ids.ts'
import { type SignedTransaction, signatureBytes, signingDigest } from './transaction.ts'

/**
 * Recovers the signer of a transaction.
 * @returns undefined when no key fits, or when s is in the upper half of its range, which EIP-2 forbids
 */
export function recoverSender(tx: SignedTransaction): Address | undefined {
  const signature = tx.s > secp256k1HalfOrder ? undefined : signatureBytes(tx)
  const address = signature && recoverAddress(signingDigest(tx), signature, tx.yParity)
  return address && addressFromBytes(address)
}

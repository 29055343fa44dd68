import { recoverAddress } from '#lib/secp256k1'
import { type Address, addressFromBytes } from '#types/ids'
import { type SignedTransaction, signatureBytes, signingDigest } from '#types/transaction'

/** Recovers the signer of a transaction from before EIP-2: s may be in either half of its range. */
export function recoverFrontierSender(tx: SignedTransaction): Address | undefined {
  const signature = signatureBytes(tx)
  const address = signature && recoverAddress(signingDigest(tx), signature, tx.yParity)
  return address && addressFromBytes(address)
}

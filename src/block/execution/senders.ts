import { Lru } from '#lib/lru'
import { recoverAddress, secp256k1HalfOrder } from '#lib/secp256k1'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import { type SignedTransaction, signatureBytes, signingDigest } from '#types/transaction'

/**
 * Who signed a transaction.
 * @returns undefined when no key fits, or for one of the two signatures that EIP-2 took away (s in the upper half)
 */
export function recoverSender(tx: SignedTransaction): Address | undefined {
  return tx.s > secp256k1HalfOrder ? undefined : recoverFrontierSender(tx)
}

/** As `recoverSender`, of a transaction from before EIP-2: either of the two signatures counts. */
export function recoverFrontierSender(tx: SignedTransaction): Address | undefined {
  const signature = signatureBytes(tx)
  const address = signature && recoverAddress(signingDigest(tx), signature, tx.yParity)
  return address && addressFromBytes(address)
}

/** Senders by transaction hash: a transaction is recovered once, be it built, inserted or read again. */
export type Senders = { of(tx: SignedTransaction, hash: Hash): Address | undefined }

/** What a node remembers: the senders of some 100,000 transactions. */
export const senderCacheBytes: number = 32 * 2 ** 20

/** Rough size of an entry: two hex strings. */
const entryBytes = 300

export function createSenders(opts: { readonly maxBytes: number }): Senders {
  const known = new Lru<Hash, Address>(opts.maxBytes)
  return {
    of(tx, hash): Address | undefined {
      const seen = known.get(hash)
      if (seen) return seen
      const sender = recoverSender(tx)
      if (sender) known.set(hash, sender, entryBytes)
      return sender
    },
  }
}

import { Lru } from '#lib/lru'
import type { Address, Hash } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { depositType, type SignedTransaction } from '#types/transaction'

/** Senders by transaction hash. The cache recovers a transaction once when it is built, inserted and read. */
export type Senders = { of(tx: SignedTransaction, hash: Hash): Address | undefined }

/** Senders of the transactions of one block that other threads recover while it is executed. */
export type SendersAhead = {
  /** Returns the sender of a signed transaction if it is already recovered; never waits. Called once for each transaction. */
  at(index: number): Address | undefined
}

/** Returns the sender of the transaction at an index if another thread recovered it; undefined for deposits, which have no signature. */
export const senderAhead = (ahead: SendersAhead | undefined, raw: Uint8Array, index: number): Address | undefined =>
  raw[0] === depositType ? undefined : ahead?.at(index)

/** Cache size of an execution without a budget: the senders of about 100,000 transactions. */
export const senderCacheBytes: number = 32 * 2 ** 20

/** Approximate size in bytes of an entry with two hex strings. */
const entryBytes = 300

/** Creates a sender cache. @param opts `maxBytes` 0: nothing is cached; `known`: the cache to fill */
export function createSenders(opts: { readonly maxBytes: number } | { readonly known: Lru<Hash, Address> }): Senders {
  const known = 'known' in opts ? opts.known : new Lru<Hash, Address>(opts.maxBytes)
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

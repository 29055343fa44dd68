import { defineFaults } from '#lib/fault'

/**
 * Why L1 does not take a transaction: `underpriced` below what it asks for, or for replacing another · `nonce-used` by a transaction in its
 * chain · `no-funds` · `other`.
 */
export type RefusalReason = 'underpriced' | 'nonce-used' | 'no-funds' | 'other'

const why: Readonly<Record<RefusalReason, string>> = {
  underpriced: 'its fees are too low',
  'nonce-used': 'its nonce is used',
  'no-funds': 'the account cannot pay for it',
  other: 'it says',
}

export const batcherFault = defineFaults({
  BLOBS_NOT_PROVED: {
    severity: 'retry',
    says: (d: { blobs: number; reason: string }) => `the proofs of ${d.blobs} blobs were not made: ${d.reason}`,
    fix: 'nothing: it is tried again; when it comes back, look for a lack of memory',
  },
  NO_BLOB_PROVER: {
    severity: 'fatal',
    says: () => 'blobs were asked for, and there is nothing to prove them with',
    fix: 'give the batcher a blob prover, or let it post calldata',
  },
  L1_TX_REFUSED: {
    severity: 'retry',
    says: (d: { reason: RefusalReason; message: string }) => `L1 refuses a batcher transaction: ${why[d.reason]} (${d.message})`,
    fix: 'when it comes back: give the batcher’s account more ether, or raise the bound of its fees',
  },
})

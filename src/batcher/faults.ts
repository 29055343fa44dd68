import { defineFaults } from '#lib/fault'

/**
 * Reason why L1 refuses a transaction.
 * `underpriced`: fees below the pool's minimum, or too low for a replacement.
 * `nonce-used`: by a canonical transaction.
 * `no-funds`: the account cannot pay.
 * `other`: any other error.
 */
export type RefusalReason = 'underpriced' | 'nonce-used' | 'no-funds' | 'other'

const why: Readonly<Record<RefusalReason, string>> = {
  underpriced: 'its fees are too low',
  'nonce-used': 'its nonce is used',
  'no-funds': 'the account cannot pay for it',
  other: 'L1 returned an error',
}

export const batcherFault = defineFaults({
  BLOBS_NOT_PROVED: {
    severity: 'retry',
    says: (d: { blobs: number; reason: string }) => `making the proofs of ${d.blobs} blobs failed: ${d.reason}`,
    fix: 'nothing, the proofs are retried; if the fault repeats, check for a lack of memory',
  },
  NO_BLOB_PROVER: {
    severity: 'fatal',
    says: () => 'the batcher must post blobs, but it has no blob prover',
    fix: 'configure a blob prover, or post calldata',
  },
  L1_TX_REFUSED: {
    severity: 'retry',
    says: (d: { reason: RefusalReason; message: string }) => `L1 refused a batcher transaction: ${why[d.reason]} (${d.message})`,
    fix: "if the fault repeats, fund the batcher's account or raise its fee limit",
  },
})

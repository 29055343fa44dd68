import { defineFaults } from '#lib/fault'

export const trustFault = defineFaults({
  L1_PROOF_INVALID: {
    severity: 'retry',
    says: (d: { endpoint: string; what: string; block: number; reason: string }) =>
      `${d.endpoint} sends no valid proof of ${d.what} at L1 block ${d.block}: ${d.reason}`,
    fix: 'use another L1 endpoint: this one serves wrong data, or does not keep the state of the finalized block',
  },
})

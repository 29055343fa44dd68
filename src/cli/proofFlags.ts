import { addressText, hashText, inGroup, slots, text } from './flagSpec.ts'

/** Flags of `basalt proof`. */
export const proofFlags = {
  ...inGroup('Proofs', {
    proof: text({ doc: 'result of eth_getProof, or the whole JSON-RPC answer; .zst is decompressed; -: standard input' }, 'FILE'),
  }),
  ...inGroup(
    'Proofs',
    {
      'state-root': hashText({ doc: 'state root of the block, from a source that you trust' }),
      address: addressText({ doc: 'account that the proof must be of; default: any' }),
      slots: slots({ doc: 'slots that the proof must have; default: any' }),
      'output-root': hashText({ doc: 'output root, from L1, that must commit to the state root; requires --block-hash' }),
      'block-hash': hashText({ doc: 'hash of the block of the output root' }),
      'withdrawal-storage-root': hashText({
        doc: 'storage root of the L2ToL1MessagePasser in the output root; default: that of the proof, if it is of that account',
      }),
    },
    { prefix: 'BASALT_PROOF_' },
  ),
}

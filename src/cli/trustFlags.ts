import { grades } from '#types/trust'
import { choice, defaulted, inGroup } from './flagSpec.ts'

/** Flags of trust in the block on which a state begins. */
export const trustFlags = inGroup(
  'Trust',
  {
    'trust.require': defaulted(
      choice(
        {
          doc: 'weakest trust in the block on which the state begins, when the node did not execute everything since genesis: attested (L1 verified a proof of it), resolved, anchored, or given (you vouch for it)',
        },
        grades,
      ),
      'attested',
    ),
  },
  { modes: ['all', 'execution'] },
)

import { nativeFunction } from '../kit/functions.ts'
import { asWord } from '../kit/results.ts'
import { idWord, toggled } from './ids.ts'
import type { PolicyFrame } from './policies.ts'

/** `invertedPolicyId` of an id names the policy that authorizes exactly the other accounts. */
export const invertedFunctions = [
  nativeFunction('invertedPolicyId(uint64)', (_: PolicyFrame, args) => asWord(idWord(toggled(args.u64(0))))),
]

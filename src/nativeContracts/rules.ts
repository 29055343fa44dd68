import type { NativeContractRules, NativeFork } from '#chainspec/evmRules'
import { padLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Word, wordOfBytes } from './kit/word.ts'

/** Rules of the native contracts under a fork, one name for each difference between versions: Beryl has V1, Cobalt V2, Denim V3. */
export type NativeRules = {
  readonly fork: NativeFork
  /** Admin of the activation registry while none is stored; undefined: the chain has none. */
  readonly activationAdmin: Word | undefined
  /** Malformed arguments revert with the selector and a text; later with the selector alone. */
  readonly explainsMalformedArguments: boolean
  /** The activation registry's admin can change, and its slot is read before each check. */
  readonly storesActivationAdmin: boolean
  /** The activation registry refuses value. */
  readonly activationRefusesValue: boolean
  readonly hasTransactionContext: boolean
  /** Writes of strings and lists read the old length and clear the words that are no longer needed. */
  readonly clearsStaleText: boolean
  /** One read of the packed policy ids serves all checks of a transfer. */
  readonly readsTransferPoliciesOnce: boolean
  /** Hashes and recovery of permits, and DOMAIN_SEPARATOR, cost gas. */
  readonly metersPermit: boolean
  /** A stablecoin's `updatePolicy` reads the old id before it checks that the new policy exists. */
  readonly stablecoinReadsOldPolicyFirst: boolean
  /** `seizeWithMemo`, its roles, policies and pausable feature. */
  readonly hasSeize: boolean
  /** Multipliers that take effect at a time (ERC-8056). */
  readonly hasScheduledMultiplier: boolean
  /** UNION and INTERSECT policies. */
  readonly hasCompositePolicies: boolean
  /** The executor policy applies to every transfer, first; before, to transfers of others' tokens only. */
  readonly checksEveryExecutor: boolean
  /** A token cannot be sent to its own address. */
  readonly refusesOwnAddress: boolean
  /** Bit 63 of a policy id negates the policy. */
  readonly hasInvertedPolicies: boolean
}

/** Creates the rules of a version. Function tables are kept for each object, so callers keep it. */
export function createNativeRules({ fork, activationAdmin }: NativeContractRules): NativeRules {
  const isCobalt = fork !== 'beryl'
  const isDenim = fork === 'denim'
  return {
    fork,
    activationAdmin: activationAdmin === undefined ? undefined : wordOfBytes(padLeft(fromHex(activationAdmin), 32)),
    explainsMalformedArguments: !isCobalt,
    stablecoinReadsOldPolicyFirst: !isCobalt,
    storesActivationAdmin: isCobalt,
    activationRefusesValue: isCobalt,
    hasTransactionContext: isCobalt,
    clearsStaleText: isCobalt,
    readsTransferPoliciesOnce: isCobalt,
    metersPermit: isCobalt,
    hasSeize: isCobalt,
    hasScheduledMultiplier: isCobalt,
    hasCompositePolicies: isCobalt,
    checksEveryExecutor: isDenim,
    refusesOwnAddress: isDenim,
    hasInvertedPolicies: isDenim,
  }
}

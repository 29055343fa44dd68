import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { AccessList } from '#types/transaction'
import type { CallMessage, CallOutcome, MeasuredCall, RunTimer } from './ports.ts'

/** Slots by their 32-byte number. */
export type SlotValues = ReadonlyMap<Hash, bigint>

/** What an account is taken to be; what is absent stays as it is. At most one of `state` and `stateDiff`. */
export type AccountOverride = {
  /** u64 */
  readonly nonce?: bigint | undefined
  /** wei */
  readonly balance?: bigint | undefined
  readonly code?: Uint8Array | undefined
  /** all its storage: every other slot is zero */
  readonly state?: SlotValues | undefined
  /** slots that differ */
  readonly stateDiff?: SlotValues | undefined
  /** where the precompile of this address stands instead */
  readonly movePrecompileTo?: Address | undefined
}

/** A state that is another in these accounts. */
export type StateOverrides = ReadonlyMap<Address, AccountOverride>

/** An environment that is another in these fields. */
export type BlockOverrides = {
  readonly number?: number | undefined
  /** seconds */
  readonly timestamp?: number | undefined
  readonly beneficiary?: Address | undefined
  readonly prevRandao?: Hash | undefined
  /** gas */
  readonly gasLimit?: bigint | undefined
  /** wei per gas */
  readonly baseFee?: bigint | undefined
  /** wei per blob gas */
  readonly blobBaseFee?: bigint | undefined
  /** what BLOCKHASH answers, by number */
  readonly blockHashes?: ReadonlyMap<number, Hash> | undefined
}

/** What a call takes to be otherwise than the chain has it. */
export type CallOverrides = { readonly state?: StateOverrides | undefined; readonly block?: BlockOverrides | undefined }

/** What a message reached for, and what it costs when all of that is listed. */
export type ListedCall = { readonly accessList: AccessList; readonly measured: MeasuredCall }

/** Messages that run one after the other in one environment. */
export type CallBundle = { readonly messages: readonly CallMessage[]; readonly block: BlockOverrides }

/** Runs what is more than one message in the state of a block; undefined: that state is not retained any more. */
export interface CallRuns {
  /** Runs the message for its access list: what it asked for itself, and the accounts and slots that it reached for. */
  list(at: BlockId, message: CallMessage, timer: RunTimer, overrides: CallOverrides): ListedCall | undefined
  /** Each message runs on what those before it have left. After one that ran out of time there are no more outcomes. */
  many(
    at: BlockId,
    bundles: readonly CallBundle[],
    timer: RunTimer,
    state: StateOverrides | undefined,
  ): readonly (readonly CallOutcome[])[] | undefined
}

import type { Address, Hash } from '#types/ids'

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

import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { AccessList, Authorization, SignedTransaction } from '#types/transaction'

/** A transaction as a client requests it: every field may be missing. */
export type CallRequest = {
  readonly from?: Address | undefined
  readonly to?: Address | undefined
  readonly gas?: bigint | undefined
  /** wei per gas */
  readonly gasPrice?: bigint | undefined
  readonly maxFeePerGas?: bigint | undefined
  readonly maxPriorityFeePerGas?: bigint | undefined
  /** wei */
  readonly value?: bigint | undefined
  readonly data?: Uint8Array | undefined
  readonly accessList?: AccessList | undefined
  /** EIP-7702; at least one */
  readonly authorizationList?: readonly Authorization[] | undefined
  readonly chainId?: bigint | undefined
  /** u64; ignored by calls */
  readonly nonce?: bigint | undefined
}

/** Slot values by 32-byte slot number. */
export type SlotValues = ReadonlyMap<Hash, bigint>

/** Override of an account; absent fields stay as they are. At most one of `state` and `stateDiff`. */
export type AccountOverride = {
  /** u64 */
  readonly nonce?: bigint | undefined
  /** wei */
  readonly balance?: bigint | undefined
  readonly code?: Uint8Array | undefined
  /** the whole storage: every other slot is zero */
  readonly state?: SlotValues | undefined
  /** changed slots only */
  readonly stateDiff?: SlotValues | undefined
  /** new address of the precompile at this address */
  readonly movePrecompileTo?: Address | undefined
}

/** Overrides of the state, by account. */
export type StateOverrides = ReadonlyMap<Address, AccountOverride>

/** Overrides of the block environment. */
export type BlockOverrides = {
  readonly number?: number | undefined
  /** seconds */
  readonly timestamp?: number | undefined
  readonly beneficiary?: Address | undefined
  readonly prevRandao?: Hash | undefined
  readonly gasLimit?: bigint | undefined
  /** wei per gas */
  readonly baseFee?: bigint | undefined
  /** wei per blob gas */
  readonly blobBaseFee?: bigint | undefined
  /** results of BLOCKHASH, by number */
  readonly blockHashes?: ReadonlyMap<number, Hash> | undefined
}

/** State and block environment that a call runs with in place of the chain's. */
export type CallOverrides = { readonly state?: StateOverrides | undefined; readonly block?: BlockOverrides | undefined }

/** A message to run, with defaults and fee rules applied. */
export type CallMessage = {
  readonly from: Address
  /** null: a contract creation with the data as init code */
  readonly to: Address | null
  /** wei */
  readonly value: bigint
  readonly data: Uint8Array
  /** intrinsic gas included */
  readonly gasLimit: bigint
  /** effective, wei per gas; 0 when the client named no price: then no fee is paid and the base fee is not checked */
  readonly gasPrice: bigint
  readonly accessList: AccessList
  /** delegations to apply before the message runs (EIP-7702); invalid ones are skipped, as in a transaction */
  readonly authorizationList: readonly Authorization[]
}

/** Reason why a message could not start. */
export type CallRefusal =
  | { readonly kind: 'intrinsic-gas'; readonly needed: bigint }
  /** wei of the sender, and wei needed for value and gas */
  | { readonly kind: 'insufficient-funds'; readonly have: bigint; readonly want: bigint }
  | { readonly kind: 'nonce-overflow' }
  | { readonly kind: 'initcode-size' }
  /** an authorization list before Isthmus */
  | { readonly kind: 'transaction-type' }
  /** the overrides contradict each other or the rules of the block */
  | { readonly kind: 'override'; readonly reason: string }

/** The messages of a request have returned more data than a request may. */
export type TooBig = { readonly kind: 'too-big'; readonly maxBytes: number }

export type CallOutcome =
  /** return data; for a creation, the code of the new contract */
  | { readonly kind: 'success'; readonly output: Uint8Array }
  | { readonly kind: 'revert'; readonly output: Uint8Array }
  /** `reason` is the interpreter's text: 'out of gas', 'stack underflow' … */
  | { readonly kind: 'halt'; readonly reason: string }
  /** interrupted: the time of the request ran out */
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | TooBig
  | { readonly kind: 'refused'; readonly refusal: CallRefusal }

/**
 * Shared time limit of all messages of a request. Each message gets a function to call before each piece of work with the gas of the piece (0 for
 * free work). The function throws when the time is up; the executor catches that.
 */
export type RunTimer = () => (pieceGas: number) => void

/** Outcome of a message and the gas it would be charged for; L1 and operator fees are not included. */
export type MeasuredCall = {
  readonly outcome: CallOutcome
  /** gas after refunds, at least the floor of EIP-7623; 0 for a message that was refused or timed out */
  readonly gasUsed: bigint
  /** gas returned by the refund counter */
  readonly gasRefunded: bigint
}

/**
 * Block on whose state messages run, in its own environment. `isNextSlot`: in the environment of the block after it, which is determined by the
 * schedule from Denim on.
 */
export type CallPlace = BlockId & { readonly isNextSlot?: boolean }

/** Runs messages without changing the chain. */
export interface Executor {
  /** Starts the time limit of a request. */
  timer(): RunTimer
  /**
   * Runs the message at a place, without nonce, sender-code and block-gas-limit checks.
   * @returns undefined when the state of the block is not retained
   */
  call(at: CallPlace, message: CallMessage, timer: RunTimer, overrides?: CallOverrides): MeasuredCall | undefined
}

/** Accounts and slots that a message accessed, and its gas with that list; for a failed message, its gas without the list. */
export type ListedCall = { readonly accessList: AccessList; readonly measured: MeasuredCall }

/** Messages that run in sequence in one block environment. */
export type CallBundle = { readonly messages: readonly CallMessage[]; readonly block: BlockOverrides }

/** One block to simulate. Fields without an override follow from its parent. */
export type SimulatedBlockRequest = {
  readonly block: BlockOverrides
  /** applies from this block on */
  readonly state: StateOverrides | undefined
  readonly calls: readonly CallRequest[]
}

export type SimulationRequest = {
  readonly blocks: readonly SimulatedBlockRequest[]
  /** true: nonces, base fee, L1 and operator fees apply as in a block; false: a call without a price pays no fees. */
  readonly validation: boolean
  /** Reports each value transfer as an ERC-20 Transfer log of address 0xeeee… */
  readonly traceTransfers: boolean
}

/** Result of a call as a transaction of its block. */
export type SimulatedCall = {
  readonly outcome: CallOutcome
  /** gas after refunds, and the peak of gas used */
  readonly gasUsed: bigint
  readonly mostGas: bigint
  /** with their indexes in the block */
  readonly logs: readonly { readonly log: Log; readonly index: number }[]
}

export type SimulatedBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly transactions: readonly { readonly transaction: SignedTransaction; readonly hash: Hash; readonly from: Address }[]
  /** in the order of the transactions */
  readonly calls: readonly SimulatedCall[]
}

/** Reason why the blocks cannot be simulated. */
export type SimulationRefusal = {
  readonly kind:
    | 'too-many-blocks'
    | 'block-order'
    | 'time-order'
    | 'block-gas-limit'
    | 'nonce-too-low'
    | 'nonce-too-high'
    | 'fee-below-base-fee'
    | 'intrinsic-gas'
    | 'insufficient-funds'
    | 'initcode-size'
    | 'bad-request'
    | 'override'
    | 'impossible'
  readonly reason: string
}

export type SimulationOutcome =
  /** `style`: the client whose answer format applies */
  | { readonly kind: 'simulated'; readonly style: 'base' | 'go-ethereum'; readonly blocks: readonly SimulatedBlock[] }
  | { readonly kind: 'refused'; readonly refusal: SimulationRefusal }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | TooBig

/** Runs several messages, or blocks of them, on the state of a block. Results are undefined when that state is not retained. */
export interface CallRuns {
  /** Runs the message for its access list: its own list, and the accounts and slots that it accessed. */
  list(at: CallPlace, message: CallMessage, timer: RunTimer, overrides: CallOverrides): ListedCall | undefined
  /** Runs each message on the state left by those before it. The outcome of a message that times out, or returns too much data, is the last one. */
  many(
    at: CallPlace,
    bundles: readonly CallBundle[],
    timer: RunTimer,
    state: StateOverrides | undefined,
  ): readonly (readonly CallOutcome[])[] | undefined
  /** Builds blocks of calls on a block, each on its predecessor. All calls together may use the gas of one call. */
  simulate(at: BlockId, request: SimulationRequest, gasCap: bigint, timer: RunTimer): SimulationOutcome | undefined
}

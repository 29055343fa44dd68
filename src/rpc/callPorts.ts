import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { AccessList, Authorization, SignedTransaction } from '#types/transaction'

/** A transaction as a caller asks for it: everything may be missing. */
export type CallRequest = {
  readonly from?: Address | undefined
  readonly to?: Address | undefined
  /** gas */
  readonly gas?: bigint | undefined
  /** wei per gas */
  readonly gasPrice?: bigint | undefined
  readonly maxFeePerGas?: bigint | undefined
  readonly maxPriorityFeePerGas?: bigint | undefined
  /** wei */
  readonly value?: bigint | undefined
  readonly data?: Uint8Array | undefined
  readonly accessList?: AccessList | undefined
  /** EIP-7702; one at least */
  readonly authorizationList?: readonly Authorization[] | undefined
  readonly chainId?: bigint | undefined
  /** u64; a call passes it over */
  readonly nonce?: bigint | undefined
}

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

/** A message as it runs: defaults and fee rules are applied. */
export type CallMessage = {
  readonly from: Address
  /** null: the data is the code of a new contract */
  readonly to: Address | null
  /** wei */
  readonly value: bigint
  readonly data: Uint8Array
  /** intrinsic gas included */
  readonly gasLimit: bigint
  /** effective, wei per gas; 0 when the caller named no price: then nothing is paid and no base fee asked */
  readonly gasPrice: bigint
  readonly accessList: AccessList
  /** delegations that take effect before the message runs (EIP-7702); those that do not fit are passed over, as in a transaction */
  readonly authorizationList: readonly Authorization[]
}

/** Why a message could not even start. */
export type CallRefusal =
  | { readonly kind: 'intrinsic-gas'; readonly needed: bigint }
  /** wei that the sender has, and needs for value and gas */
  | { readonly kind: 'insufficient-funds'; readonly have: bigint; readonly want: bigint }
  | { readonly kind: 'nonce-overflow' }
  | { readonly kind: 'initcode-size' }
  /** an authorization list before Isthmus */
  | { readonly kind: 'transaction-type' }
  /** what is overridden contradicts itself, or the rules of the block */
  | { readonly kind: 'override'; readonly reason: string }

export type CallOutcome =
  /** return data; of a creation, the code of the new contract */
  | { readonly kind: 'success'; readonly output: Uint8Array }
  | { readonly kind: 'revert'; readonly output: Uint8Array }
  /** `reason` in the interpreter's words: 'out of gas', 'stack underflow' … */
  | { readonly kind: 'halt'; readonly reason: string }
  /** ended before its end: the time that the request had is over */
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | { readonly kind: 'refused'; readonly refusal: CallRefusal }

/**
 * The time that a request has for the messages it runs, all together. Each message gets a function that is told the gas of each piece of work
 * before that is begun (0: something that costs none), and throws, for the executor to catch, when there is no time for it.
 */
export type RunTimer = () => (pieceGas: number) => void

/** What became of a message, and the gas it would be charged for; neither L1 nor operator fee is in it. */
export type MeasuredCall = {
  readonly outcome: CallOutcome
  /** gas: after refunds, at least the floor of EIP-7623; of a message that was refused or ran out of time 0 */
  readonly gasUsed: bigint
  /** gas that came back out of the refund counter */
  readonly gasRefunded: bigint
}

/** Runs messages that change nothing. */
export interface Executor {
  /** The time of a request begins. */
  timer(): RunTimer
  /**
   * Runs the message in the environment of the block, on the state after it, without nonce, sender-code and block-gas-limit checks.
   * @returns undefined when the state of the block is not retained any more
   */
  call(at: BlockId, message: CallMessage, timer: RunTimer, overrides?: CallOverrides): CallOutcome | undefined
  /** As `call`, with what it costs. */
  measure(at: BlockId, message: CallMessage, timer: RunTimer, overrides?: CallOverrides): MeasuredCall | undefined
}

/** What a message reached for, and what it costs when all of that is listed; of one that fails, what it cost without. */
export type ListedCall = { readonly accessList: AccessList; readonly measured: MeasuredCall }

/** Messages that run one after the other in one environment. */
export type CallBundle = { readonly messages: readonly CallMessage[]; readonly block: BlockOverrides }

/** One block to simulate. What is not overridden follows from the block before it. */
export type SimulatedBlockRequest = {
  readonly block: BlockOverrides
  /** holds from this block on */
  readonly state: StateOverrides | undefined
  readonly calls: readonly CallRequest[]
}

export type SimulationRequest = {
  readonly blocks: readonly SimulatedBlockRequest[]
  /** Nonces, base fee and the fees of L1 and operator are as in a block; otherwise a call that names no price pays none. */
  readonly validation: boolean
  /** Wei that moves is told as if it were a token: a log of the address 0xeeee… */
  readonly traceTransfers: boolean
}

/** A call as a transaction of its block. */
export type SimulatedCall = {
  readonly outcome: CallOutcome
  /** gas: after refunds, and the most that it had used at any time */
  readonly gasUsed: bigint
  readonly mostGas: bigint
  /** with their places in the block */
  readonly logs: readonly { readonly log: Log; readonly index: number }[]
}

export type SimulatedBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly transactions: readonly { readonly transaction: SignedTransaction; readonly hash: Hash; readonly from: Address }[]
  /** in the order of the transactions */
  readonly calls: readonly SimulatedCall[]
}

/** Why blocks cannot be simulated. */
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
  /** `style`: whose form the answer has */
  | { readonly kind: 'simulated'; readonly style: 'base' | 'go-ethereum'; readonly blocks: readonly SimulatedBlock[] }
  | { readonly kind: 'refused'; readonly refusal: SimulationRefusal }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }

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
  /** Builds blocks of calls on a block, each on the one before. All calls together may use as much gas as one call. */
  simulate(at: BlockId, request: SimulationRequest, gasCap: bigint, timer: RunTimer): SimulationOutcome | undefined
}

import type { EvmRules } from '#chainspec/evmRules'
import type { Account } from '#types/account'
import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { StateDiff } from '#types/stateDiff'

/** State that a view was asked for; keys are hashed. An interpreter adds the address and the number of the slot, which some sources need. */
export type WantedState =
  | { readonly kind: 'account'; readonly addressKey: Uint8Array; readonly address?: Address }
  | {
      readonly kind: 'slot'
      readonly addressKey: Uint8Array
      readonly slotKey: Uint8Array
      readonly address?: Address
      readonly slot?: Hash
    }
  | { readonly kind: 'code'; readonly codeHash: Hash }
  /** a trie node; `owner` as in `NodeSource` */
  | { readonly kind: 'node'; readonly owner: Uint8Array | undefined; readonly path: Uint8Array }
  | { readonly kind: 'blockHash'; readonly number: number }

/** Thrown by a view that does not have the requested state yet. The caller fetches it and calls `resume` on the session. */
export class MissingState extends Error {
  readonly wanted: WantedState

  constructor(wanted: WantedState) {
    super(`the view lacks ${wanted.kind}`)
    this.wanted = wanted
  }
}

/**
 * State before the first transaction of a session, by hashed key: `addressKey` is keccak(address), `slotKey` is keccak(slot), 32 bytes each.
 * Synchronous. Implementations throw MissingState when the state can be fetched, and a Fault when it cannot. They may keep the keys passed in.
 * One object always returns the same values, so a later session on it may reuse values already read.
 */
export interface StateView {
  account(addressKey: Uint8Array): Account | undefined
  /** 32 bytes big-endian; undefined means zero. */
  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined
  code(codeHash: Hash): Uint8Array
  /** Hash of one of the 256 blocks before the running block; undefined for other numbers. */
  blockHash(number: number): Hash | undefined
}

export type BlockEnv = {
  readonly chainId: bigint
  readonly number: number
  /** Seconds. */
  readonly timestamp: number
  readonly beneficiary: Address
  readonly prevRandao: Hash
  /** Gas. */
  readonly gasLimit: bigint
  /** Wei per gas. */
  readonly baseFee: bigint
  /** Wei per blob gas; 1 on OP chains. */
  readonly blobBaseFee: bigint
}

/** Values of a transaction that all its calls share, and the entries that start warm (EIP-2929, EIP-2930, EIP-3651). */
export type TransactionEnv = {
  readonly origin: Address
  /** Effective price, wei per gas. */
  readonly gasPrice: bigint
  readonly blobHashes: readonly Hash[]
  readonly warm: readonly { readonly address: Address; readonly slots: readonly Hash[] }[]
}

export type Message = {
  readonly caller: Address
  /** null: a contract creation at the address given by the caller's nonce before this message; `run` increments the nonce. */
  readonly to: Address | null
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  /** Gas, without the intrinsic gas. */
  readonly gas: bigint
}

export type HaltReason =
  | 'out of gas'
  | 'stack underflow'
  | 'stack overflow'
  | 'invalid jump'
  | 'invalid opcode'
  | 'write protection'
  | 'call depth'
  | 'insufficient balance'
  | 'address collision'
  | 'invalid code'
  | 'code size'
  | 'initcode size'
  | 'return data out of bounds'
  | 'nonce overflow'
  | 'precompile failure'

type Ended = {
  readonly gasLeft: bigint
  /** Refund counter (before the cap of EIP-3529); zero unless the message succeeded. */
  readonly gasRefund: bigint
  /** Return data, or the revert data. */
  readonly output: Uint8Array
}
export type Outcome =
  | (Ended & { readonly kind: 'success'; readonly logs: readonly Log[]; readonly created?: Address })
  | (Ended & { readonly kind: 'revert' })
  | (Ended & { readonly kind: 'halt'; readonly reason: HaltReason })

/**
 * Called before each piece of work that cannot be interrupted, with its gas: at most a million, or the gas of a precompile; 0 before a code is
 * loaded, which costs more time than gas. An exception ends the message and is rethrown; a deadline or cancellation uses this. The session is
 * unusable afterwards.
 */
export type InterruptCheck = (pieceGas: number) => void

/** A hashed key and its preimage: an address or the number of a slot. */
export type KeyPreimage = { readonly key: Uint8Array; readonly preimage: Uint8Array }

/** Keys that a session has read, each account once, a slot once for each account. */
export type ReadKeys = {
  /** `isCoded`: the session has run or read the account's code. */
  readonly accounts: readonly (KeyPreimage & { readonly isCoded: boolean })[]
  /** Includes slots that were not read because their account has no storage; the key of such a slot may be zero. */
  readonly slots: readonly KeyPreimage[]
}

/**
 * State while one block (or one `eth_call`) runs: the view plus all changes. Reads see all changes. Call order for a transaction:
 * `beginTransaction`, balance and nonce changes, `run` (at most once), fee payments, `endTransaction`. System calls (EIP-4788, EIP-2935) are
 * transactions without fees. A revert or halt inside `run` undoes the changes of the message but not earlier changes.
 * Every call rethrows exceptions of the view. After MissingState the session is as before the call, except that an interrupted message continues with
 * `resume`. Disposal releases the session's memory and makes it unusable; a session that is not disposed is garbage-collected.
 */
export interface EvmSession extends Disposable {
  /** undefined when the account does not exist. */
  account(address: Address): Account | undefined
  /** Value of a storage slot by its 32-byte number. */
  slot(address: Address, slot: Hash): bigint
  code(address: Address): Uint8Array
  /** Adds wei; creates the account. Zero wei touches it (EIP-161). */
  addBalance(address: Address, wei: bigint): void
  /** Subtracts wei; throws RangeError when the balance is too low, so callers check first. */
  subtractBalance(address: Address, wei: bigint): void
  setNonce(address: Address, nonce: bigint): void
  /** Sets code without checks, for delegations (EIP-7702) and forced deployments. Empty code removes the code. */
  setCode(address: Address, code: Uint8Array): void
  /** Sets a storage slot by its 32-byte number, without gas, for forced deployments. The account must exist. */
  setSlot(address: Address, slot: Hash, value: bigint): void
  /** Creates a checkpoint. Later changes can be undone until `endTransaction`. */
  checkpoint(): number
  revertTo(checkpoint: number): void
  beginTransaction(env: TransactionEnv): void
  /** Runs a message to its end. Also moves the value from caller to callee. */
  run(message: Message, interruptCheck?: InterruptCheck): Outcome
  /** Continues the message that MissingState interrupted, once the view has the requested state. */
  resume(): Outcome
  /** Removes self-destructed accounts and touched empty accounts; clears warm sets, transient storage and checkpoints. */
  endTransaction(): void
  /** Returns all changes since the session was opened, without values that again equal the view's. */
  diff(): StateDiff
  /** Returns the accounts of `diff` and those with slots in it, unordered. */
  changed(): readonly Address[]
  readKeys(): ReadKeys
}

export interface Evm {
  /** Opens a session. @param interruptCheck default interrupt check, for messages that are run without one */
  open(view: StateView, block: BlockEnv, rules: EvmRules, interruptCheck?: InterruptCheck): EvmSession
}

import type { EvmRules } from '#chainspec/evmRules'
import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { StateDiff } from '#types/stateDiff'

export type Account = {
  /** u64 */
  readonly nonce: bigint
  /** wei */
  readonly balance: bigint
  readonly codeHash: Hash
  /** root of the account's storage as of the view; stale while a block runs. An empty one says that there are no slots: none is asked for (EIP-7610) */
  readonly storageRoot: Hash
}

/** What a view was asked for; keys are hashed. */
export type WantedState =
  | { readonly kind: 'account'; readonly addressKey: Uint8Array }
  | { readonly kind: 'slot'; readonly addressKey: Uint8Array; readonly slotKey: Uint8Array }
  | { readonly kind: 'code'; readonly codeHash: Hash }
  | { readonly kind: 'blockHash'; readonly number: number }

/** Thrown by a view that does not have something yet: whoever runs the message fetches it, and lets the session `resume`. */
export class MissingState extends Error {
  readonly wanted: WantedState

  constructor(wanted: WantedState) {
    super(`the view lacks ${wanted.kind}`)
    this.wanted = wanted
  }
}

/**
 * State before the first transaction of a session, by hashed key: `addressKey` is keccak(address), `slotKey` is keccak(slot), 32 bytes each.
 * Synchronous; implementations throw MissingState when they can answer later, and a Fault when they cannot. Keys handed in may be kept.
 * One object gives the same answers for ever: a later session on it need not ask again.
 */
export interface StateView {
  account(addressKey: Uint8Array): Account | undefined
  /** 32 bytes big-endian; undefined is zero */
  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined
  code(codeHash: Hash): Uint8Array
  /** hash of one of the 256 blocks before the one that runs; undefined when out of reach */
  blockHash(number: number): Hash | undefined
}

export type BlockEnv = {
  readonly chainId: bigint
  readonly number: number
  /** seconds */
  readonly timestamp: number
  readonly beneficiary: Address
  readonly prevRandao: Hash
  /** gas */
  readonly gasLimit: bigint
  /** wei per gas */
  readonly baseFee: bigint
  /** wei per blob gas; 1 on OP chains */
  readonly blobBaseFee: bigint
}

/** What the transaction gives to each of its calls, and what it has warm from the start (EIP-2929, EIP-2930, EIP-3651). */
export type TransactionEnv = {
  readonly origin: Address
  /** effective, wei per gas */
  readonly gasPrice: bigint
  readonly blobHashes: readonly Hash[]
  readonly warm: readonly { readonly address: Address; readonly slots: readonly Hash[] }[]
}

export type Message = {
  readonly caller: Address
  /** null: a contract creation, at the address that the caller's nonce gives (the nonce *before* this message; `run` raises it) */
  readonly to: Address | null
  /** wei */
  readonly value: bigint
  readonly data: Uint8Array
  /** gas, intrinsic gas already taken */
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
  /** refund counter (EIP-3529 not yet applied); zero unless success */
  readonly gasRefund: bigint
  /** return data, or the revert reason */
  readonly output: Uint8Array
}
export type Outcome =
  | (Ended & { readonly kind: 'success'; readonly logs: readonly Log[]; readonly created?: Address })
  | (Ended & { readonly kind: 'revert' })
  | (Ended & { readonly kind: 'halt'; readonly reason: HaltReason })

/**
 * Called before each piece of work that cannot be interrupted, with its gas: at most a million, or what a precompile costs; 0 before a code is
 * loaded, which costs more time than gas. What it throws ends the message and is passed on: a deadline, a cancel. The session is of no use after that.
 */
export type Pace = (pieceGas: number) => void

/**
 * Time that a gas takes at most, about, in ns: a KECCAK256 of a page or a MODEXP of the worst shape comes to 30 on a machine of two shared cores.
 * A pace multiplies a piece's gas by it to estimate when the piece ends.
 */
export const slowNsPerGas = 30

/**
 * State while one block (or one `eth_call`) runs: the view plus what has changed. Reads see all changes. Order of use for a transaction:
 * `beginTransaction`, balance and nonce changes, `run` (at most once), fee payments, `endTransaction`. System calls (EIP-4788, EIP-2935) are
 * transactions without fees. A revert or halt inside `run` undoes what the message changed, not what was changed before it.
 * Any call passes on what the view throws. After MissingState the session stays as it was before the call; only a message that was running goes
 * on by `resume`. Disposing gives back the memory of the session, which is of no use then; one that is not disposed is collected like any object.
 */
export interface EvmSession extends Disposable {
  /** undefined when the account does not exist */
  account(address: Address): Account | undefined
  /** value of a storage slot by its 32-byte number */
  slot(address: Address, slot: Hash): bigint
  code(address: Address): Uint8Array
  /** Adds wei; creates the account. Zero wei touches it (EIP-161). */
  addBalance(address: Address, wei: bigint): void
  /** Takes wei; RangeError when there are fewer: the caller checks first. */
  subtractBalance(address: Address, wei: bigint): void
  setNonce(address: Address, nonce: bigint): void
  /** Sets code as it is: delegations (EIP-7702), force-deployments. Empty code removes it. */
  setCode(address: Address, code: Uint8Array): void
  /** Everything changed since the checkpoint can be undone until `endTransaction`. */
  checkpoint(): number
  revertTo(checkpoint: number): void
  beginTransaction(env: TransactionEnv): void
  /** Runs a message to its end. The value moves from caller to callee inside. */
  run(message: Message, pace?: Pace): Outcome
  /** Goes on with the message that MissingState has interrupted, once the view has what was wanted. */
  resume(): Outcome
  /** Removes self-destructed and touched empty accounts, forgets warm sets, transient storage and checkpoints. */
  endTransaction(): void
  /** All changes since the session was opened: values that came back to the view's are left out. */
  diff(): StateDiff
  /** The accounts of `diff`, and those whose slots are in it, in no order. */
  changed(): readonly Address[]
}

export interface Evm {
  /** @param pace of messages that are run without one of their own */
  open(view: StateView, block: BlockEnv, rules: EvmRules, pace?: Pace): EvmSession
}

import type { Word } from './kit/word.ts'

/** An account of the host's state. */
export type AccountHandle = number

/** Code of an account, as far as native contracts distinguish it. `marker` is the byte 0xef, which marks a native account. */
export type CodeKind = 'none' | 'marker' | 'other'

/**
 * The frame and the state in which a native contract runs. The interpreters implement it. Charging methods throw NativeOutOfGas when the gas does not
 * suffice; methods that change state revert without data in a static frame. Words passed in are read at once and can be reused.
 * A method may throw MissingState. The interpreter then undoes the frame's changes, and runs the contract again once the state is there.
 */
export interface NativeHost {
  /** Call data: the bytes from `start` to `end`, valid until the frame ends. */
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly start: number
  readonly end: number
  readonly isStatic: boolean
  /** The frame is a DELEGATECALL or CALLCODE. */
  readonly isBorrowed: boolean
  /** The frame has a value, moved to the contract before it started. */
  readonly hasValue: boolean
  /** The same object in every frame of one host, like `selfAddress`. */
  readonly caller: Word
  readonly origin: Word
  /** The called address. */
  readonly selfAddress: Word
  readonly self: AccountHandle
  readonly chainId: Word
  /** Seconds. */
  readonly timestamp: bigint
  /** An object that the contracts reuse in the next frame of the host. */
  kept: object | undefined
  charge(gas: number): void
  /** Reverts without data in a static frame. */
  requireWritable(): void
  /** Returns an account by its address, without a charge. */
  account(address: Word): AccountHandle
  /** Reads a slot; EIP-2929 prices. */
  load(to: Word, account: AccountHandle, slot: Word): void
  /** Writes a slot; prices and refunds of EIP-2200, EIP-2929 and EIP-3529. */
  store(account: AccountHandle, slot: Word, value: Word): void
  /** Adds an amount to a slot: reads and writes it. @returns false, after the read, when the sum exceeds a word */
  add(account: AccountHandle, slot: Word, amount: Word): boolean
  /** Subtracts an amount from a slot: reads and writes it. @returns false, after the read, when the slot holds less, which is then in `held` */
  subtract(account: AccountHandle, slot: Word, amount: Word, held: Word): boolean
  /** Reads the code of the account at an address: 100 gas when the account is warm, else 2,600. */
  codeKind(address: Word): CodeKind
  /** Sets the marker as code: 200 gas, and 32,036 more for an account without code. */
  setMarker(account: AccountHandle): void
  /** Emits a log: 375 gas, 375 for each topic and 8 for each byte. @param topics the first `count` count */
  log(account: AccountHandle, topics: readonly Word[], count: number, data: Uint8Array): void
  /** Emits a log with three topics and one word of data. */
  logWord(account: AccountHandle, topics: readonly Word[], data: Word): void
  /** Called between the calls of a batch, which may cost little gas. Ends the frame by an exception when its time is over. */
  interrupt(): void
}

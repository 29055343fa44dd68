import type { StateView } from '#evm/ports'
import type { Account } from '#types/account'
import type { Hash } from '#types/ids'

/** Receiver of the keys that the execution of a block reads, hashed, 32 bytes each. Another thread can read the trie nodes above them in advance. */
export type ReadKeys = {
  /** Whether the receiver wants keys now. */
  readonly isFollowed: boolean
  /** Takes a copy of the keys of a read, before it. @param slotKey undefined: an account is read */
  note(addressKey: Uint8Array, slotKey?: Uint8Array): void
}

class NotedView implements StateView {
  readonly #view: StateView
  readonly #keys: ReadKeys

  constructor(view: StateView, keys: ReadKeys) {
    this.#view = view
    this.#keys = keys
  }

  account(addressKey: Uint8Array): Account | undefined {
    this.#keys.note(addressKey)
    return this.#view.account(addressKey)
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    this.#keys.note(addressKey, slotKey)
    return this.#view.slot(addressKey, slotKey)
  }

  code(codeHash: Hash): Uint8Array {
    return this.#view.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    return this.#view.blockHash(number)
  }
}

/** Returns a view that notes the keys of all reads, if they are wanted. */
export const notingReads = (view: StateView, keys: ReadKeys | undefined): StateView => (keys?.isFollowed ? new NotedView(view, keys) : view)

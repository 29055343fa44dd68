import type { Account } from '#types/account'
import type { Address } from '#types/ids'

/** The host's data about an instance's accounts, valid for all sessions on one view. Arrays are indexed by the entry's number. */
export type Known = {
  readonly entries: Map<Address, number>
  /** By entry. */
  readonly addresses: Map<number, Address>
  /** Account in the view; null: the view has none. */
  readonly before: (Account | null | undefined)[]
  /** Keccak of the address, the only key passed to views. */
  readonly keys: (Uint8Array | undefined)[]
}

export const createKnown = (): Known => ({ entries: new Map(), addresses: new Map(), before: [], keys: [] })

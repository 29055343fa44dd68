import type { Address } from '#types/ids'
import type { Account } from '../ports.ts'

/** What the host knows of an instance's accounts, beside their entries: good for all sessions on one view. Arrays are by the entry's number. */
export type Known = {
  readonly entries: Map<Address, number>
  /** by entry */
  readonly addresses: Map<number, Address>
  /** as of the view; null: it has none */
  readonly before: (Account | null | undefined)[]
  /** keccak of the address; views get no others */
  readonly keys: (Uint8Array | undefined)[]
}

export const createKnown = (): Known => ({ entries: new Map(), addresses: new Map(), before: [], keys: [] })

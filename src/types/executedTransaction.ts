import type { Address, Hash } from './ids.ts'
import type { Receipt } from './receipt.ts'

/** An executed transaction. */
export type ExecutedTransaction = {
  readonly hash: Hash
  readonly sender: Address
  readonly receipt: Receipt
  readonly gasUsed: bigint
}

import type { PayloadAttributes } from '#types/payload'
import { depositType } from '#types/transaction'

/**
 * The attributes without the batch's transactions: what is built instead when, from Holocene on, a derived payload proves invalid.
 * @see specs protocol/holocene/derivation.md, "Engine Queue"
 */
export function depositsOnly(attributes: PayloadAttributes): PayloadAttributes {
  return { ...attributes, transactions: attributes.transactions.filter((transaction) => transaction[0] === depositType) }
}

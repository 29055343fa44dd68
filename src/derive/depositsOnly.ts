import type { PayloadAttributes } from '#types/payload'
import { depositType } from '#types/transaction'

/**
 * Returns the attributes without the batch's transactions. From Holocene on they replace the attributes of a derived payload that proved invalid.
 * @see specs protocol/holocene/derivation.md, "Engine Queue"
 */
export function depositsOnly(attributes: PayloadAttributes): PayloadAttributes {
  return { ...attributes, transactions: attributes.transactions.filter((transaction) => transaction[0] === depositType) }
}

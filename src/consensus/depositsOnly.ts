import type { PayloadAttributes } from '#types/payload'
import { depositType } from '#types/transaction'

const isDeposit = (raw: Uint8Array): boolean => raw[0] === depositType

export function hasDepositsOnly(attributes: PayloadAttributes): boolean {
  return attributes.transactions.every(isDeposit)
}

/** The same block without the transactions of the batch. @see specs protocol/holocene/derivation.md, "Engine Queue" */
export function depositsOnly(attributes: PayloadAttributes): PayloadAttributes {
  return { ...attributes, transactions: attributes.transactions.filter(isDeposit) }
}

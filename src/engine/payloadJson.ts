import { z } from 'zod'
import { type Hex, toHex, toQuantity } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import {
  addressField,
  bloomField,
  bytes8Field,
  bytesField,
  hashField,
  parseFields,
  quantityField,
  safeField,
  withoutNulls,
} from './jsonFields.ts'

/** Withdrawals must be an empty list; others are refused here. */
const noWithdrawals = z
  .array(z.unknown())
  .max(0, { error: 'withdrawals are not empty' })
  .transform((): readonly [] => [])

const payloadFields = z.object({
  parentHash: hashField,
  feeRecipient: addressField,
  stateRoot: hashField,
  receiptsRoot: hashField,
  logsBloom: bloomField,
  prevRandao: hashField,
  blockNumber: safeField,
  gasLimit: quantityField(8),
  gasUsed: quantityField(8),
  timestamp: safeField,
  extraData: bytesField,
  baseFeePerGas: quantityField(32),
  blockHash: hashField,
  transactions: z.array(bytesField),
  withdrawals: noWithdrawals.nullish(),
  blobGasUsed: quantityField(8).nullish(),
  excessBlobGas: quantityField(8).nullish(),
  withdrawalsRoot: hashField.nullish(),
})

/**
 * Parses an execution payload of any version of the Engine API; unknown fields are ignored.
 * @param parentBeaconBlockRoot a separate parameter of the method
 * @throws Fault MALFORMED_PAYLOAD (fatal)
 */
export function parsePayload(json: unknown, parentBeaconBlockRoot?: Hash): Payload {
  const { withdrawals, blobGasUsed, excessBlobGas, withdrawalsRoot, ...common } = parseFields(payloadFields, json, 'payload')
  const optional = withoutNulls({ withdrawals, blobGasUsed, excessBlobGas, withdrawalsRoot, parentBeaconBlockRoot })
  return { ...common, ...optional }
}

/** Encodes the payload for the Engine API. The parent beacon block root is a separate parameter there. */
export function encodePayload(payload: Payload): Readonly<Record<string, Hex | readonly Hex[]>> {
  const { blobGasUsed, excessBlobGas } = payload
  return {
    parentHash: payload.parentHash,
    feeRecipient: payload.feeRecipient,
    stateRoot: payload.stateRoot,
    receiptsRoot: payload.receiptsRoot,
    logsBloom: toHex(payload.logsBloom),
    prevRandao: payload.prevRandao,
    blockNumber: toQuantity(payload.blockNumber),
    gasLimit: toQuantity(payload.gasLimit),
    gasUsed: toQuantity(payload.gasUsed),
    timestamp: toQuantity(payload.timestamp),
    extraData: toHex(payload.extraData),
    baseFeePerGas: toQuantity(payload.baseFeePerGas),
    blockHash: payload.blockHash,
    transactions: payload.transactions.map(toHex),
    ...(payload.withdrawals !== undefined && { withdrawals: [] }),
    ...(blobGasUsed !== undefined && { blobGasUsed: toQuantity(blobGasUsed) }),
    ...(excessBlobGas !== undefined && { excessBlobGas: toQuantity(excessBlobGas) }),
    ...(payload.withdrawalsRoot !== undefined && { withdrawalsRoot: payload.withdrawalsRoot }),
  }
}

const attributesFields = z.object({
  timestamp: safeField,
  prevRandao: hashField,
  suggestedFeeRecipient: addressField,
  withdrawals: noWithdrawals.nullish(),
  parentBeaconBlockRoot: hashField.nullish(),
  transactions: z.array(bytesField).nullish(),
  noTxPool: z.boolean().nullish(),
  gasLimit: quantityField(8),
  eip1559Params: bytes8Field.nullish(),
  minBaseFee: z.union([z.int().nonnegative().transform(BigInt), quantityField(8)]).nullish(),
})

/**
 * Parses payload attributes of the Engine API with the OP fields.
 * @throws Fault MALFORMED_PAYLOAD (fatal)
 */
export function parseAttributes(json: unknown): PayloadAttributes {
  const fields = parseFields(attributesFields, json, 'payload attributes')
  const { withdrawals, parentBeaconBlockRoot, transactions, noTxPool, eip1559Params, minBaseFee, ...common } = fields
  return {
    ...common,
    transactions: transactions ?? [],
    noTxPool: noTxPool ?? false,
    ...withoutNulls({ withdrawals, parentBeaconBlockRoot, eip1559Params, minBaseFee }),
  }
}

/** Encodes the attributes for the Engine API, including `parentBeaconBlockRoot`. */
export function encodeAttributes(attributes: PayloadAttributes): Readonly<Record<string, Hex | readonly Hex[] | boolean | number>> {
  const { withdrawals, parentBeaconBlockRoot, eip1559Params, minBaseFee } = attributes
  return {
    timestamp: toQuantity(attributes.timestamp),
    prevRandao: attributes.prevRandao,
    suggestedFeeRecipient: attributes.suggestedFeeRecipient,
    ...(withdrawals !== undefined && { withdrawals: [] }),
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    transactions: attributes.transactions.map(toHex),
    noTxPool: attributes.noTxPool,
    gasLimit: toQuantity(attributes.gasLimit),
    ...(eip1559Params !== undefined && { eip1559Params: toHex(eip1559Params) }),
    // other clients accept a JSON number only, and a minimum base fee is far below 2^53 wei
    ...(minBaseFee !== undefined && {
      minBaseFee: minBaseFee <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(minBaseFee) : toQuantity(minBaseFee),
    }),
  }
}

import type { ForkchoiceAnswer, ForkchoiceState, PayloadBody, PayloadStatus } from '#engine/engineApi'
import { encodePayload, parsePayload } from '#engine/payloadJson'
import { isFault } from '#lib/fault'
import { type Hex, toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { objectOf, required } from '../../codecs/members.ts'
import { ParamError } from '../../codecs/paramError.ts'
import { bytes, hash, listOf } from '../../codecs/values.ts'
import type { Json } from '../../json.ts'
import { type JsonSchema, list, nullable, object, refTo } from '../../reference/schemas.ts'
import type { ParamCodec, ResultCodec } from '../../registry.ts'

/** Runs a parser of the Engine API. @throws ParamError in place of its fault */
export function wellFormed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw isFault(error, 'MALFORMED_PAYLOAD') ? new ParamError(error.message, 'senseless', error) : error
  }
}

export const payload: ParamCodec<Payload> = {
  doc: 'execution payload',
  schema: refTo('ExecutionPayload'),
  parse: (value) => wellFormed(() => parsePayload(value)),
}

export const blobHashes: ParamCodec<readonly Hash[]> = { ...listOf(hash, 1_024), doc: 'blob versioned hashes: none on this chain' }
export const executionRequests: ParamCodec<readonly Uint8Array[]> = {
  ...listOf(bytes, 1_024),
  doc: 'execution requests: none on this chain',
}

export const forkchoiceState: ParamCodec<ForkchoiceState> = {
  doc: 'headBlockHash, safeBlockHash, finalizedBlockHash; a zero safe or finalized hash leaves that label unchanged',
  schema: object('forkchoice state', { headBlockHash: refTo('Hash'), safeBlockHash: refTo('Hash'), finalizedBlockHash: refTo('Hash') }),
  parse(value): ForkchoiceState {
    const state = objectOf(value, 'a forkchoice state')
    const label = (key: string): Hash => required(state, key, hash)
    return { head: label('headBlockHash'), safe: label('safeBlockHash'), finalized: label('finalizedBlockHash') }
  },
}

/** Unparsed: the Engine API parses the attributes after the heads have moved. */
export const attributes: ParamCodec<unknown> = {
  doc: 'payload attributes with the OP fields',
  schema: { type: 'object', required: ['timestamp', 'prevRandao', 'suggestedFeeRecipient', 'gasLimit'] },
  parse: (value) => value,
}

const idSchema: JsonSchema = { type: 'string', pattern: '^0x[0-9a-fA-F]{16}$' }

export const payloadId: ParamCodec<Hex> = {
  doc: 'payload id, 8 bytes in hex',
  schema: idSchema,
  parse(value): Hex {
    const id = bytes.parse(value)
    if (id.length !== 8) throw new ParamError('invalid string length')
    return toHex(id)
  },
}

function statusJson(status: PayloadStatus): Json {
  return {
    status: status.status,
    latestValidHash: status.status === 'SYNCING' ? null : (status.latestValidHash ?? null),
    validationError: status.status === 'INVALID' ? status.validationError : null,
  }
}

export const payloadStatus: ResultCodec<PayloadStatus> = {
  doc: 'status (VALID, INVALID, SYNCING), latestValidHash, validationError',
  schema: refTo('PayloadStatus'),
  encode: statusJson,
}

export const forkchoiceAnswer: ResultCodec<ForkchoiceAnswer> = {
  doc: 'payloadStatus and payloadId; no id without attributes',
  schema: object('answer to a forkchoice', { payloadStatus: refTo('PayloadStatus'), payloadId: nullable(idSchema) }),
  encode: (answer) => ({ payloadStatus: statusJson(answer.payloadStatus), payloadId: answer.payloadId ?? null }),
}

/** Always zero: forced transactions leave no choice that would earn the fee recipient more, and fees of pool transactions are not counted. */
const blockValue = '0x0'
const noBlobs = { commitments: [], proofs: [], blobs: [] }

const builtFields = { executionPayload: refTo('ExecutionPayload'), blockValue: refTo('Quantity') }
const envelopeFields = { ...builtFields, blobsBundle: { type: 'object' }, shouldOverrideBuilder: { const: false } }
const rootField = { parentBeaconBlockRoot: refTo('Hash') }

/** Result codecs by version of `engine_getPayload`. */
export const builtPayload: Readonly<Record<1 | 2 | 3 | 4, ResultCodec<Payload>>> = {
  1: { doc: 'execution payload', schema: refTo('ExecutionPayload'), encode: encodePayload },
  2: {
    doc: 'executionPayload, blockValue',
    schema: object('built payload', builtFields),
    encode: (built): Json => ({ executionPayload: encodePayload(built), blockValue }),
  },
  3: {
    doc: 'executionPayload, blockValue, blobsBundle (empty), shouldOverrideBuilder (false), parentBeaconBlockRoot',
    schema: object('built payload', envelopeFields, rootField),
    encode: envelope,
  },
  4: {
    doc: 'fields of version 3, and executionRequests (empty)',
    schema: object('built payload', { ...envelopeFields, executionRequests: { type: 'array', maxItems: 0 } }, rootField),
    encode: (built): Json => ({ ...envelope(built), executionRequests: [] }),
  },
}

function envelope(built: Payload): { readonly [key: string]: Json } {
  const { parentBeaconBlockRoot } = built
  return {
    executionPayload: encodePayload(built),
    blockValue,
    blobsBundle: noBlobs,
    shouldOverrideBuilder: false,
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
  }
}

export const bodies: ResultCodec<readonly (PayloadBody | undefined)[]> = {
  doc: 'list: transactions and withdrawals (null before Canyon); null for an unknown block',
  schema: list(nullable(object('body', { transactions: list(refTo('Bytes')), withdrawals: { type: ['array', 'null'], maxItems: 0 } }))),
  encode: (list) => list.map((body) => (body === undefined ? null : bodyJson(body))),
}

function bodyJson({ transactions, withdrawals }: PayloadBody): Json {
  return { transactions: transactions.map(toHex), withdrawals: withdrawals === undefined ? null : [] }
}

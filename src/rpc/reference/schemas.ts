import { grades } from '#types/trust'
import type { Json } from '../json.ts'

/** Schema of a JSON value, in JSON Schema terms. */
export type JsonSchema = { readonly [key: string]: Json }

const hexOf = (digits: string, title: string): JsonSchema => ({ title, type: 'string', pattern: `^0x${digits}$` })
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })

/** An object with at least these members. */
export function object(
  title: string,
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return { title, type: 'object', required: Object.keys(required), properties: { ...required, ...optional } }
}

const scalars = {
  Quantity: hexOf('(0|[1-9a-f][0-9a-f]*)', 'unsigned integer in hex, no leading zeros'),
  Bytes: hexOf('([0-9a-fA-F]{2})*', 'bytes in hex'),
  Address: hexOf('[0-9a-fA-F]{40}', '20 bytes in hex'),
  Hash: hexOf('[0-9a-fA-F]{64}', '32 bytes in hex'),
  BlockTag: { title: 'block tag', enum: ['latest', 'earliest', 'pending', 'safe', 'finalized'] },
} as const satisfies Readonly<Record<string, JsonSchema>>

/** Names of the shared schemas. */
export type SchemaName =
  | keyof typeof scalars
  | 'BlockNumberOrTag'
  | 'BlockId'
  | 'AccessList'
  | 'CallRequest'
  | 'LogFilter'
  | 'Transaction'
  | 'Log'
  | 'Receipt'
  | 'Header'
  | 'Block'
  | 'FeeHistory'
  | 'AccountProof'
  | 'SyncStatus'
  | 'BlockRef'
  | 'L1Ref'
  | 'L2Ref'
  | 'RollupStatus'
  | 'ExecutionPayload'
  | 'PayloadStatus'
  | 'CallFrame'
  | 'LocatedCall'
  | 'TracerResult'
  | 'TransactionTrace'

export const refTo = (name: SchemaName): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const [quantity, bytes, address, hash] = [refTo('Quantity'), refTo('Bytes'), refTo('Address'), refTo('Hash')]
const unsigned = { type: 'string', pattern: '^0x[0-9a-fA-F]+$' } // parameters may have leading zeros
const oneOrMany = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, list(schema), { type: 'null' }] })

const parameters = {
  BlockNumberOrTag: { title: 'block number or tag', anyOf: [unsigned, refTo('BlockTag')] },
  BlockId: {
    title: 'block number, tag, hash, or an object of EIP-1898',
    anyOf: [
      refTo('BlockNumberOrTag'),
      hash,
      object('block by number', { blockNumber: refTo('BlockNumberOrTag') }),
      object('block by hash', { blockHash: hash }, { requireCanonical: { type: 'boolean' } }),
    ],
  },
  AccessList: list(object('entry of an access list', { address, storageKeys: list(hash) })),
  CallRequest: object(
    'transaction request',
    {},
    {
      ...{ from: nullable(address), to: nullable(address), gas: nullable(unsigned), value: nullable(unsigned) },
      ...{ gasPrice: nullable(unsigned), maxFeePerGas: nullable(unsigned), maxPriorityFeePerGas: nullable(unsigned) },
      ...{ input: nullable(bytes), data: nullable(bytes), nonce: nullable(unsigned), chainId: nullable(unsigned) },
      accessList: nullable(refTo('AccessList')),
    },
  ),
  LogFilter: object(
    'filter of logs',
    {},
    {
      fromBlock: nullable(refTo('BlockNumberOrTag')),
      toBlock: nullable(refTo('BlockNumberOrTag')),
      blockHash: nullable(hash),
      address: oneOrMany(address),
      topics: nullable({ type: 'array', maxItems: 4, items: oneOrMany(hash) }),
    },
  ),
} as const satisfies Readonly<Record<string, JsonSchema>>

const transaction = object(
  'transaction; type 0x7e is a deposit',
  { type: quantity, hash, from: address, gas: quantity, value: quantity, input: bytes, nonce: quantity },
  {
    ...{ to: nullable(address), blockHash: nullable(hash), blockNumber: nullable(quantity), transactionIndex: nullable(quantity) },
    ...{ gasPrice: quantity, maxFeePerGas: quantity, maxPriorityFeePerGas: quantity, chainId: quantity },
    ...{ accessList: refTo('AccessList'), yParity: quantity, v: quantity, r: quantity, s: quantity },
    ...{ sourceHash: hash, mint: quantity, isSystemTx: { type: 'boolean' }, depositReceiptVersion: quantity, blockTimestampMs: quantity },
  },
)

const log = object(
  'log with its position in the chain',
  { address, topics: { ...list(hash), maxItems: 4 }, data: bytes, removed: { type: 'boolean' } },
  {
    ...{ blockHash: nullable(hash), blockNumber: nullable(quantity), blockTimestamp: quantity, blockTimestampMs: quantity },
    ...{ transactionHash: nullable(hash), transactionIndex: nullable(quantity), logIndex: nullable(quantity) },
  },
)

const receipt = object(
  'receipt with L1 and operator fees',
  {
    ...{ type: quantity, transactionHash: hash, transactionIndex: quantity, blockHash: hash, blockNumber: quantity, from: address },
    ...{ to: nullable(address), contractAddress: nullable(address), gasUsed: quantity, cumulativeGasUsed: quantity },
    ...{ effectiveGasPrice: quantity, logs: list(refTo('Log')), logsBloom: bytes },
  },
  {
    ...{ status: quantity, root: hash, depositNonce: quantity, depositReceiptVersion: quantity },
    ...{ l1Fee: quantity, l1GasPrice: quantity, l1GasUsed: quantity, l1FeeScalar: { type: 'string' } },
    ...{ l1BaseFeeScalar: quantity, l1BlobBaseFee: quantity, l1BlobBaseFeeScalar: quantity },
    ...{ operatorFeeScalar: quantity, operatorFeeConstant: quantity, daFootprintGasScalar: quantity, blobGasUsed: quantity },
  },
)

const headerRequired = {
  ...{ hash, parentHash: hash, sha3Uncles: hash, miner: address, stateRoot: hash, transactionsRoot: hash, receiptsRoot: hash },
  ...{ logsBloom: bytes, difficulty: quantity, number: quantity, gasLimit: quantity, gasUsed: quantity, timestamp: quantity },
  ...{ extraData: bytes, mixHash: hash, nonce: bytes },
}
const headerOptional = {
  ...{ baseFeePerGas: quantity, withdrawalsRoot: hash, blobGasUsed: quantity, excessBlobGas: quantity },
  ...{ parentBeaconBlockRoot: hash, requestsHash: hash, size: quantity, timestampMs: quantity },
}

const results = {
  Transaction: transaction,
  Log: log,
  Receipt: receipt,
  Header: object('header of a block', headerRequired, headerOptional),
  Block: object(
    'block, with transaction hashes or whole transactions',
    { ...headerRequired, transactions: { anyOf: [list(hash), list(refTo('Transaction'))] }, uncles: list(hash) },
    { ...headerOptional, withdrawals: { type: 'array' } },
  ),
  FeeHistory: object(
    'fees of a range of blocks, oldest first',
    { oldestBlock: quantity, baseFeePerGas: list(quantity), gasUsedRatio: list({ type: 'number' }) },
    { baseFeePerBlobGas: list(quantity), blobGasUsedRatio: list({ type: 'number' }), reward: list(list(quantity)) },
  ),
  AccountProof: object('account with Merkle proofs (EIP-1186)', {
    ...{ address, balance: quantity, codeHash: hash, nonce: quantity, storageHash: hash, accountProof: list(bytes) },
    storageProof: list(object('slot', { key: { type: 'string' }, value: quantity, proof: list(bytes) })),
  }),
  SyncStatus: {
    anyOf: [{ const: false }, object('progress', { startingBlock: quantity, currentBlock: quantity, highestBlock: quantity })],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>

const count: JsonSchema = { type: 'integer', minimum: 0 }
const truth: JsonSchema = { type: 'boolean' }
const blockRef = { hash, number: count }
const l1Ref = { ...blockRef, parentHash: hash, timestamp: count }

/** Schemas of the consensus half and of the Engine API. */
const halves = {
  BlockRef: object('block', blockRef),
  L1Ref: object('L1 block; all zero: not known yet', l1Ref),
  L2Ref: object('L2 block; all zero: not known yet', { ...l1Ref, l1origin: refTo('BlockRef'), sequenceNumber: count }),
  RollupStatus: object(
    'heads of L1 and L2',
    {
      ...{ current_l1: refTo('L1Ref'), current_l1_finalized: refTo('L1Ref'), head_l1: refTo('L1Ref') },
      ...{ safe_l1: refTo('L1Ref'), finalized_l1: refTo('L1Ref'), unsafe_l2: refTo('L2Ref'), safe_l2: refTo('L2Ref') },
      ...{ finalized_l2: refTo('L2Ref'), cross_unsafe_l2: refTo('L2Ref'), local_safe_l2: refTo('L2Ref') },
    },
    {
      trust: object(
        'block on which the state begins',
        { grade: { enum: grades }, block: refTo('BlockRef') },
        { l1: refTo('BlockRef'), proposal: address },
      ),
    },
  ),
  ExecutionPayload: object(
    'execution payload',
    {
      ...{ parentHash: hash, feeRecipient: address, stateRoot: hash, receiptsRoot: hash, logsBloom: bytes, prevRandao: hash },
      ...{ blockNumber: quantity, gasLimit: quantity, gasUsed: quantity, timestamp: quantity, extraData: bytes },
      ...{ baseFeePerGas: quantity, blockHash: hash, transactions: list(bytes) },
    },
    { withdrawals: { type: 'array', maxItems: 0 }, blobGasUsed: quantity, excessBlobGas: quantity, withdrawalsRoot: hash },
  ),
  PayloadStatus: object('status of a payload', {
    status: { enum: ['VALID', 'INVALID', 'SYNCING'] },
    latestValidHash: nullable(hash),
    validationError: nullable({ type: 'string' }),
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>

const tracedCall = {
  ...{ action: { type: 'object' }, type: { enum: ['call', 'create', 'suicide', 'reward'] } },
  ...{ subtraces: count, traceAddress: list(count) },
}

/** Schemas of traces. */
const traces = {
  CallFrame: object(
    'call with its sub-calls',
    { type: { type: 'string' }, from: address, gas: quantity, gasUsed: quantity, input: bytes },
    {
      ...{ to: address, value: quantity, output: bytes, error: { type: 'string' }, revertReason: { type: 'string' } },
      ...{ calls: list(refTo('CallFrame')), logs: { type: 'array' } },
    },
  ),
  LocatedCall: object('call with its position', tracedCall, {
    ...{ blockHash: nullable(hash), blockNumber: nullable(count), transactionHash: nullable(hash), transactionPosition: nullable(count) },
    ...{ result: { type: ['object', 'null'] }, error: { type: 'string' } },
  }),
  TracerResult: {
    title: 'result of the tracer',
    anyOf: [
      object('struct logs', { gas: count, failed: truth, returnValue: { type: 'string' }, structLogs: { type: 'array' } }),
      refTo('CallFrame'),
      list(refTo('LocatedCall')),
      { title: 'accounts, counters or tracers by name', type: 'object' },
    ],
  },
  TransactionTrace: object('requested traces of a transaction', {
    ...{ output: bytes, stateDiff: { type: ['object', 'null'] }, trace: list(object('call', tracedCall)), vmTrace: { type: 'null' } },
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>

/** All named schemas: `components.schemas` of OpenRPC. */
export const namedSchemas: Readonly<Record<SchemaName, JsonSchema>> = { ...scalars, ...parameters, ...results, ...halves, ...traces }

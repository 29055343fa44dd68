import { getContractAddress, type Hex } from 'viem'
import type { Json, JsonObject } from './json.ts'

/**
 * Differences between the recorded clients where each is valid. This node uses `reth`'s dialect, which users of Base see; results of `op-geth` and
 * `op-node` are translated into it before a comparison. No other difference is accepted:
 * - reth: deposits have a parity and, for creations, no `to`; their receipts have L1 fees; logs have the block's time. op-geth has none of these.
 * - reth returns the size of a block with a header, op-geth does not.
 * - Absent accounts in proofs: reth returns the hashes of no code and of an empty trie and the empty trie's node, op-geth zeros and no node.
 * - op-node returns the rollup config as it was given; the other client adds defaults.
 * - op-node returns `pending_safe_l2`, which the other client does not have.
 */
export type Dialect = 'reth' | 'op-geth'

const emptyCodeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const zeroHash = `0x${'00'.repeat(32)}`

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

const pick = (object: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))

const mapItems = (value: Json | undefined, translate: (item: JsonObject) => JsonObject): Json | undefined =>
  Array.isArray(value) ? value.map((item) => (isObject(item) ? translate(item) : item)) : value

/** Fields of results that only one of the clients has; they are compared with that client. */
const feeFields = ['l1GasPrice', 'l1GasUsed', 'l1Fee', 'l1FeeScalar', 'l1BaseFeeScalar', 'l1BlobBaseFee', 'l1BlobBaseFeeScalar']

/** Translates this node's transaction into op-geth's dialect. */
function transactionOfOurs(transaction: JsonObject): JsonObject {
  const { type } = transaction
  if (type !== '0x7e') return transaction
  return { to: null, ...without(transaction, 'yParity') }
}

const logOfOurs = (log: JsonObject): JsonObject => without(log, 'blockTimestamp')

function receiptOfOurs(receipt: JsonObject): JsonObject {
  const { type, logs } = receipt
  return { ...(type === '0x7e' ? without(receipt, ...feeFields) : receipt), logs: mapItems(logs, logOfOurs) ?? null }
}

function withSystemConfig(config: JsonObject, translate: (systemConfig: JsonObject) => JsonObject): JsonObject {
  const { genesis } = config
  if (!isObject(genesis)) return config
  const { system_config: systemConfig } = genesis
  return isObject(systemConfig) ? { ...config, genesis: { ...genesis, system_config: translate(systemConfig) } } : config
}

/** op-geth returns slots in no fixed order. For a failed message it returns no reason, and the gas with the access list. */
function accessListOf(result: JsonObject): JsonObject {
  const { accessList, error } = result
  const whole = error === undefined ? result : without(result, 'gasUsed')
  const sorted = mapItems(accessList, (entry) => {
    const { storageKeys } = entry
    return { ...entry, storageKeys: Array.isArray(storageKeys) ? storageKeys.toSorted() : null }
  })
  return {
    ...whole,
    accessList: sorted ?? null,
    ...(error !== undefined && { error: String(error).replace(/^(execution reverted).*/, '$1') }),
  }
}

/**
 * Results of calls in simulated blocks. The blocks themselves differ: op-geth drops extra data and beacon root, uses one second between blocks, gives
 * each call the whole gas of its block, names a parent block that it does not return, and has the data of a revert in the error.
 */
const simulatedOf = (blocks: Json): Json | undefined =>
  mapItems(blocks, (block) => ({ ...pick(block, 'number', 'gasUsed', 'baseFeePerGas', 'gasLimit', 'miner'), calls: callsOf(block) }))

function callsOf({ calls }: JsonObject): Json {
  const callOf = (call: JsonObject): JsonObject => {
    const { logs, error, status } = call
    const placed = mapItems(logs, (log) => without(log, 'blockHash', 'blockTimestamp', 'transactionHash'))
    return {
      ...(status === '0x0' ? without(call, 'returnData') : call),
      logs: placed ?? null,
      ...(isObject(error) && { error: without(error, 'data') }),
    }
  }
  return mapItems(calls, callOf) ?? null
}

function configOfOurs(config: JsonObject): JsonObject {
  const known = (members: JsonObject): JsonObject => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
  return without(withSystemConfig(config, known), 'granite_channel_timeout', 'chain_op_config')
}

/**
 * A defect of the recorded reth node: it computes the address of a contract that a deposit creates with nonce 0. op-geth, for the same deposit,
 * and the protocol use the nonce in the receipt.
 */
function receiptOfReth(receipt: JsonObject): JsonObject {
  const { type, to, from, depositNonce } = receipt
  if (type !== '0x7e' || to !== null || depositNonce === undefined) return receipt
  const contractAddress = getContractAddress({ from: String(from) as Hex, nonce: BigInt(String(depositNonce)) }).toLowerCase()
  return { ...receipt, contractAddress }
}

/** Returns a recorded result of reth with its known defects corrected. */
export function resultOfReth(method: string, result: Json): Json {
  if (method === 'eth_getTransactionReceipt' && isObject(result)) return receiptOfReth(result)
  return method === 'eth_getBlockReceipts' ? (mapItems(result, receiptOfReth) ?? result) : result
}

/** Returns this node's result without the fields that op-geth and op-node lack. */
export function resultOfOurs(method: string, result: Json): Json {
  if (method === 'eth_getLogs' && Array.isArray(result)) return mapItems(result, logOfOurs) ?? result
  if (method === 'eth_simulateV1') return simulatedOf(result) ?? result
  if (method === 'eth_getBlockReceipts') return mapItems(result, receiptOfOurs) ?? result
  if (!isObject(result)) return result
  if (method === 'eth_createAccessList') return accessListOf(result)
  if (method.startsWith('eth_getTransactionBy')) return transactionOfOurs(result)
  if (method === 'eth_getTransactionReceipt') return receiptOfOurs(result)
  if (method.startsWith('eth_getHeaderBy')) return without(result, 'size')
  if (method === 'optimism_rollupConfig') return configOfOurs(result)
  const { transactions } = result
  return method.startsWith('eth_getBlockBy') ? { ...result, transactions: mapItems(transactions, transactionOfOurs) ?? null } : result
}

function proofOfTheirs(proof: JsonObject): JsonObject {
  const { codeHash, storageProof } = proof
  const slots = mapItems(storageProof, (slot) => {
    const { proof: nodes } = slot
    return Array.isArray(nodes) && nodes.length === 0 ? { ...slot, proof: ['0x80'] } : slot
  })
  return { ...proof, ...(codeHash === zeroHash && { codeHash: emptyCodeHash, storageHash: emptyRoot }), storageProof: slots ?? null }
}

/** A defect of op-geth at the last block before Canyon: it computes the next base fee with the old denominator. Block 12's is another. */
function feeHistoryOfTheirs(history: JsonObject): JsonObject {
  const { baseFeePerGas } = history
  const corrected = (fee: Json): Json => (fee === '0x2f5b16d7' ? '0x301e6f22' : fee)
  return { ...history, baseFeePerGas: Array.isArray(baseFeePerGas) ? baseFeePerGas.map(corrected) : (baseFeePerGas ?? null) }
}

/** Returns a result of op-geth or op-node without the fields that the other clients lack. */
export function resultOfTheirs(method: string, result: Json): Json {
  if (method === 'eth_simulateV1') return simulatedOf(result) ?? result
  if (!isObject(result)) return result
  if (method === 'eth_createAccessList') return accessListOf(result)
  if (method === 'eth_feeHistory') return feeHistoryOfTheirs(result)
  if (method === 'eth_getProof') return proofOfTheirs(result)
  if (method === 'optimism_rollupConfig') return withSystemConfig(result, (members) => without(members, 'eip1559Params'))
  if (method === 'optimism_syncStatus') return without(result, 'pending_safe_l2')
  const { syncStatus: status } = result
  return isObject(status) ? { ...result, syncStatus: without(status, 'pending_safe_l2') } : result
}

export type RpcErrorJson = { code: number; message: string; data?: Json }
type Translation = { pattern: RegExp; ours: (match: RegExpExecArray, params: readonly Json[]) => RpcErrorJson }

const unreadable = (data: string): RpcErrorJson => ({ code: -32602, message: 'Invalid params', data })
const lastParam = (params: readonly Json[]): Json | undefined => params.at(-1)

function gasOf([request]: readonly Json[]): number {
  const { gas } = isObject(request) ? request : {}
  return Number(gas)
}

/** Errors of op-geth and op-node, and the error of this dialect for the same cause. */
const translations: readonly Translation[] = [
  { pattern: /^the method \S+ does not exist/, ours: () => ({ code: -32601, message: 'Method not found' }) },
  { pattern: /hex string has length \d+, want 40/, ours: () => unreadable('invalid string length') },
  { pattern: /hex string without 0x prefix/, ours: () => unreadable('hex string without 0x prefix') },
  { pattern: /^missing value for required argument/, ours: () => unreadable('No more params') },
  {
    pattern: /cannot specify both/,
    ours: () => unreadable('cannot specify both blockHash and fromBlock/toBlock, choose one or the other'),
  },
  { pattern: /^header not found$/, ours: (_match, params) => ({ code: -32001, message: `block not found: ${lastParam(params)}` }) },
  { pattern: /^invalid block range params$/, ours: ([message]) => ({ code: -32602, message }) },
  { pattern: /^both gasPrice and .*$/, ours: ([message]) => ({ code: -32602, message }) },
  {
    pattern: /insufficient funds.*: address \S+ (have \d+ want \d+)/,
    ours: ([, amounts]) => rejected(`insufficient funds for gas * price + value: ${amounts}`),
  },
  { pattern: /^out of gas$/, ours: (_match, params) => rejected(`out of gas: gas required exceeds: ${gasOf(params)}`) },
  {
    pattern: /has both 'state' and 'stateDiff'$/,
    ours: (_match, params) => ({ code: -32602, message: `account ${addressOf(params[2])} has both 'state' and 'stateDiff'` }),
  },
  { pattern: /^stack underflow/, ours: () => rejected('EVM error: StackUnderflow') },
  // bytes that are no transaction
  {
    pattern: /^(?:transaction type not supported|rlp: value size exceeds available input length)$/,
    ours: () => ({ code: -32602, message: 'failed to decode signed transaction' }),
  },
  { pattern: /^filter not found$/, ours: ([message]) => ({ code: -32602, message }) },
  { pattern: /intrinsic gas too low/, ours: ([message]) => ({ code: -32000, message }) },
  // op-geth checks the base fee first
  {
    pattern: /max fee per gas less than block base fee|max priority fee per gas higher than max fee/,
    ours: () => ({ code: -32000, message: 'max fee per gas less than block base fee' }),
  },
  { pattern: /^failed to get L2 block ref .* not found$/, ours: () => ({ code: -32603, message: 'Internal error' }) },
]

/** Address of the only overridden account. */
const addressOf = (overrides: Json | undefined): string => (isObject(overrides) ? String(Object.keys(overrides)[0]).toLowerCase() : '')

function rejected(message: string): RpcErrorJson {
  return { code: -32003, message }
}

/** Translates an error of op-geth or op-node into this dialect. Reverts are equal except for the text of a panic. */
export function errorOfTheirs(error: RpcErrorJson, params: readonly Json[]): RpcErrorJson {
  if (error.code === 3) return { ...error, message: error.message.replace('assert(false)', 'panic: assertion failed (0x01)') }
  for (const { pattern, ours } of translations) {
    const match = pattern.exec(error.message)
    if (match) return ours(match, params)
  }
  return error
}

/** Requests that only one of op-geth and the other client accepts: returns the other client's outcome. */
export function divergence(method: string, params: readonly Json[], head: number): RpcErrorJson | 'answered' | undefined {
  const first = params[0]
  if (method === 'eth_getBlockByNumber' && first === '0x01') return 'answered' // leading zeros are accepted
  if (!isObject(first)) return undefined
  const { data, input, toBlock } = first
  if (method === 'eth_getLogs' && Number(toBlock) > head) return { code: -32602, message: 'block range extends beyond current head block' }
  if (method !== 'eth_call' || data === undefined || input === undefined || data === input) return undefined
  const message = 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data'
  return { code: -32602, message }
}

import { getContractAddress, type Hex } from 'viem'
import type { Json, JsonObject } from './json.ts'

/**
 * How the clients that were recorded differ from each other where both are right. Our node speaks `reth`'s dialect, which is what users of
 * Base see; what `op-geth` and `op-node` answered is translated into it before the comparison. Nothing else is forgiven:
 * - reth: deposits show a parity and no `to` when they create, their receipts show L1 fees, logs show the block's time; op-geth has none of these.
 * - reth tells the size of its block with a header, op-geth does not.
 * - Absent accounts in proofs: reth gives the hashes of no code and of an empty trie and the empty trie's node, op-geth zeros and no node.
 * - The rollup config of op-node keeps to its input; the other client adds what stands for it.
 * - op-node tells of `pending_safe_l2`, which the other client does not have.
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

/** Fields of both answers that only one of the clients knows, taken from the one that has them. */
const feeFields = ['l1GasPrice', 'l1GasUsed', 'l1Fee', 'l1FeeScalar', 'l1BaseFeeScalar', 'l1BlobBaseFee', 'l1BlobBaseFeeScalar']

/** Ours in the words of op-geth. */
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

/** op-geth tells slots in no order, and not why a message reverts, whose gas it gives with the list. */
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
 * What calls did in simulated blocks. The blocks are others: op-geth keeps neither extra data nor beacon root, has a second between blocks, gives
 * each call all the gas of its block, names as parent a block that it does not show, and has the data of a revert in the error.
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
 * A defect of the recorded reth node: it gives the address of a contract that a deposit creates as if the depositor's nonce were 0. op-geth,
 * asked about the same deposit, and the protocol take the nonce that the receipt itself names.
 */
function receiptOfReth(receipt: JsonObject): JsonObject {
  const { type, to, from, depositNonce } = receipt
  if (type !== '0x7e' || to !== null || depositNonce === undefined) return receipt
  const contractAddress = getContractAddress({ from: String(from) as Hex, nonce: BigInt(String(depositNonce)) }).toLowerCase()
  return { ...receipt, contractAddress }
}

/** A recorded result of reth without its known defects. */
export function resultOfReth(method: string, result: Json): Json {
  if (method === 'eth_getTransactionReceipt' && isObject(result)) return receiptOfReth(result)
  return method === 'eth_getBlockReceipts' ? (mapItems(result, receiptOfReth) ?? result) : result
}

/** Our result, with what op-geth and op-node do not tell taken away. */
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

/** A mistake of op-geth at the last block before Canyon: it tells the next base fee by the old denominator. Block 12's is another. */
function feeHistoryOfTheirs(history: JsonObject): JsonObject {
  const { baseFeePerGas } = history
  const corrected = (fee: Json): Json => (fee === '0x2f5b16d7' ? '0x301e6f22' : fee)
  return { ...history, baseFeePerGas: Array.isArray(baseFeePerGas) ? baseFeePerGas.map(corrected) : (baseFeePerGas ?? null) }
}

/** op-geth's or op-node's result, with what the other clients do not tell taken away. */
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
type Translation = { says: RegExp; ours: (match: RegExpExecArray, params: readonly Json[]) => RpcErrorJson }

const unreadable = (data: string): RpcErrorJson => ({ code: -32602, message: 'Invalid params', data })
const lastParam = (params: readonly Json[]): Json | undefined => params.at(-1)

function gasOf([request]: readonly Json[]): number {
  const { gas } = isObject(request) ? request : {}
  return Number(gas)
}

/** Errors of op-geth and op-node, and what our dialect says in the same situation. */
const translations: readonly Translation[] = [
  { says: /^the method \S+ does not exist/, ours: () => ({ code: -32601, message: 'Method not found' }) },
  { says: /hex string has length \d+, want 40/, ours: () => unreadable('invalid string length') },
  { says: /hex string without 0x prefix/, ours: () => unreadable('hex string without 0x prefix') },
  { says: /^missing value for required argument/, ours: () => unreadable('No more params') },
  { says: /cannot specify both/, ours: () => unreadable('cannot specify both blockHash and fromBlock/toBlock, choose one or the other') },
  { says: /^header not found$/, ours: (_match, params) => ({ code: -32001, message: `block not found: ${lastParam(params)}` }) },
  { says: /^invalid block range params$/, ours: ([message]) => ({ code: -32602, message }) },
  { says: /^both gasPrice and .*$/, ours: ([message]) => ({ code: -32602, message }) },
  {
    says: /insufficient funds.*: address \S+ (have \d+ want \d+)/,
    ours: ([, amounts]) => rejected(`insufficient funds for gas * price + value: ${amounts}`),
  },
  { says: /^out of gas$/, ours: (_match, params) => rejected(`out of gas: gas required exceeds: ${gasOf(params)}`) },
  {
    says: /has both 'state' and 'stateDiff'$/,
    ours: (_match, params) => ({ code: -32602, message: `account ${addressOf(params[2])} has both 'state' and 'stateDiff'` }),
  },
  { says: /^stack underflow/, ours: () => rejected('EVM error: StackUnderflow') },
  // of bytes that are no transaction
  {
    says: /^(?:transaction type not supported|rlp: value size exceeds available input length)$/,
    ours: () => ({ code: -32602, message: 'failed to decode signed transaction' }),
  },
  { says: /^filter not found$/, ours: ([message]) => ({ code: -32602, message }) },
  { says: /intrinsic gas too low/, ours: ([message]) => ({ code: -32000, message }) },
  // the base fee is looked at first there
  {
    says: /max fee per gas less than block base fee|max priority fee per gas higher than max fee/,
    ours: () => ({ code: -32000, message: 'max fee per gas less than block base fee' }),
  },
  { says: /^failed to get L2 block ref .* not found$/, ours: () => ({ code: -32603, message: 'Internal error' }) },
]

/** The one account that is overridden. */
const addressOf = (overrides: Json | undefined): string => (isObject(overrides) ? String(Object.keys(overrides)[0]).toLowerCase() : '')

function rejected(message: string): RpcErrorJson {
  return { code: -32003, message }
}

/** op-geth's or op-node's error in our dialect; reverts are the same in both but for the words of a panic. */
export function errorOfTheirs(error: RpcErrorJson, params: readonly Json[]): RpcErrorJson {
  if (error.code === 3) return { ...error, message: error.message.replace('assert(false)', 'panic: assertion failed (0x01)') }
  for (const { says, ours } of translations) {
    const match = says.exec(error.message)
    if (match) return ours(match, params)
  }
  return error
}

/** Requests that op-geth answers and the other client refuses, or the other way round: ours is the outcome of the other. */
export function divergence(method: string, params: readonly Json[], head: number): RpcErrorJson | 'answered' | undefined {
  const first = params[0]
  if (method === 'eth_getBlockByNumber' && first === '0x01') return 'answered' // leading zeros are let pass
  if (!isObject(first)) return undefined
  const { data, input, toBlock } = first
  if (method === 'eth_getLogs' && Number(toBlock) > head) return { code: -32602, message: 'block range extends beyond current head block' }
  if (method !== 'eth_call' || data === undefined || input === undefined || data === input) return undefined
  const message = 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data'
  return { code: -32602, message }
}

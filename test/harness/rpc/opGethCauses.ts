import { type Asked, type Cause, inBoth, inOurs, inTheirs, isObject, mapItems, ofObject, type RpcErrorJson, without } from './causes.ts'
import type { Json, JsonObject } from './json.ts'

const emptyCodeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const zeroHash = `0x${'00'.repeat(32)}`

const isDeposit = ({ type }: JsonObject): boolean => type === '0x7e'
const feeFields = ['l1GasPrice', 'l1GasUsed', 'l1Fee', 'l1FeeScalar', 'l1BaseFeeScalar', 'l1BlobBaseFee', 'l1BlobBaseFeeScalar']

/** Changes the transactions of a result: a transaction, or a block's. */
const inTransactions = (change: (transaction: JsonObject) => JsonObject) =>
  ofObject((result) => {
    const { transactions } = result
    return transactions === undefined ? change(result) : { ...result, transactions: mapItems(transactions, change) }
  })

/** Changes the receipts of a result: one, or a block's. */
const inReceipts =
  (change: (receipt: JsonObject) => JsonObject) =>
  (result: Json): Json =>
    isObject(result) ? change(result) : mapItems(result, change)

const untimed = (log: JsonObject): JsonObject => without(log, 'blockTimestamp')

function withSystemConfig(config: JsonObject, change: (systemConfig: JsonObject) => JsonObject): JsonObject {
  const { genesis } = config
  if (!isObject(genesis)) return config
  const { system_config: systemConfig } = genesis
  return isObject(systemConfig) ? { ...config, genesis: { ...genesis, system_config: change(systemConfig) } } : config
}

const inCalls = (change: (call: JsonObject) => JsonObject) => (blocks: Json) =>
  mapItems(blocks, (block) => ({ ...block, calls: mapItems(block['calls'], change) }))

function sortedSlots(result: JsonObject): JsonObject {
  const sorted = mapItems(result['accessList'], (entry) => {
    const { storageKeys } = entry
    return { ...entry, storageKeys: Array.isArray(storageKeys) ? storageKeys.toSorted() : null }
  })
  return { ...result, accessList: sorted }
}

/** op-geth computes the last fee of the list, that of the block after `newest`. The recorded header of that block counts. */
function nextBaseFee(history: JsonObject, { params, recorded }: Asked): JsonObject {
  const { baseFeePerGas } = history
  const next = recorded('eth_getBlockByNumber', [`0x${(Number(params[1]) + 1).toString(16)}`, true])
  if (!Array.isArray(baseFeePerGas) || !isObject(next)) return history
  return { ...history, baseFeePerGas: [...baseFeePerGas.slice(0, -1), next['baseFeePerGas'] ?? null] }
}

const blocks = /^eth_getBlockBy/
const transactions = /^eth_getBlockBy|^eth_getTransactionBy/
const receipts = /Receipts?$/
const rollupConfig = /^optimism_rollupConfig$/
const status = /^optimism_(syncStatus|outputAtBlock)$/
const simulation = /^eth_simulateV1$/
const accessList = /^eth_createAccessList$/
const proof = /^eth_getProof$/

/** Members of a simulated block that op-geth computes from other inputs: no extra data, no beacon root, one second between blocks. */
const ofSimulatedInputs = ['extraData', 'hash', 'parentHash', 'parentBeaconBlockRoot', 'size', 'stateRoot', 'timestamp']

const results: readonly Cause[] = [
  inOurs(
    'a deposit has no yParity',
    transactions,
    inTransactions((tx) => (isDeposit(tx) ? without(tx, 'yParity') : tx)),
  ),
  inOurs(
    'a deposit that creates has "to": null',
    transactions,
    inTransactions((tx) => (isDeposit(tx) ? { to: null, ...tx } : tx)),
  ),
  inOurs(
    'the receipt of a deposit has no L1 fees',
    receipts,
    inReceipts((of) => (isDeposit(of) ? without(of, ...feeFields) : of)),
  ),
  inOurs(
    'a log has no blockTimestamp',
    receipts,
    inReceipts((of) => ({ ...of, logs: mapItems(of['logs'], untimed) })),
  ),
  inOurs('a log has no blockTimestamp', /^eth_getLogs$/, (logs) => mapItems(logs, untimed)),
  inOurs(
    'a header has no size',
    /^eth_getHeaderBy/,
    ofObject((header) => without(header, 'size')),
  ),
  inTheirs(
    'an absent account has zero hashes',
    proof,
    ofObject((of) => (of['codeHash'] === zeroHash ? { ...of, codeHash: emptyCodeHash, storageHash: emptyRoot } : of)),
  ),
  inTheirs(
    'a slot of an empty trie has no proof node',
    proof,
    ofObject((of) => ({
      ...of,
      storageProof: mapItems(of['storageProof'], (slot) => (JSON.stringify(slot['proof']) === '[]' ? { ...slot, proof: ['0x80'] } : slot)),
    })),
  ),
  inTheirs(
    'the base fee after the last block before Canyon is computed with the old denominator',
    /^eth_feeHistory$/,
    ofObject(nextBaseFee),
  ),
  inBoth('slots of an access list are in no order', accessList, ofObject(sortedSlots)),
  inBoth(
    'gasUsed of a failed call is that with the access list',
    accessList,
    ofObject((of) => (of['error'] === undefined ? of : without(of, 'gasUsed'))),
  ),
  inOurs(
    'the error of a failed call has no reason',
    accessList,
    ofObject((of) => (of['error'] === undefined ? of : { ...of, error: String(of['error']).replace(/^(execution reverted).*/, '$1') })),
  ),
  inTheirs(
    'system_config has eip1559Params',
    rollupConfig,
    ofObject((config) => withSystemConfig(config, (members) => without(members, 'eip1559Params'))),
  ),
  inOurs(
    'the rollup config has no defaults of the client',
    rollupConfig,
    ofObject((config) =>
      without(
        withSystemConfig(config, (members) => without(members, ...Object.keys(members).filter((key) => members[key] === null))),
        'granite_channel_timeout',
        'chain_op_config',
      ),
    ),
  ),
  inTheirs(
    'the sync status has pending_safe_l2',
    status,
    ofObject((of) =>
      isObject(of['syncStatus']) ? { ...of, syncStatus: without(of['syncStatus'], 'pending_safe_l2') } : without(of, 'pending_safe_l2'),
    ),
  ),
  inBoth('simulated blocks have no extra data and no beacon root, and are one second apart', simulation, (of) =>
    mapItems(of, (block) => without(block, ...ofSimulatedInputs)),
  ),
  inBoth('blooms of a simulated block and of its receipts are empty', simulation, (of) =>
    mapItems(of, (block) => without(block, 'logsBloom', 'receiptsRoot')),
  ),
  inBoth('each simulated transaction has the gas of the whole block', simulation, (of) =>
    mapItems(of, (block) => without(block, 'transactions', 'transactionsRoot')),
  ),
  inBoth(
    'logs of simulated calls have other hashes',
    simulation,
    inCalls((call) => ({ ...call, logs: mapItems(call['logs'], (log) => without(log, 'blockHash', 'blockTimestamp', 'transactionHash')) })),
  ),
  inBoth(
    'the data of a simulated revert is in the error',
    simulation,
    inCalls((call) => (isObject(call['error']) ? { ...without(call, 'returnData'), error: without(call['error'], 'data') } : call)),
  ),
]

const rejected = (message: string): RpcErrorJson => ({ code: -32003, message })
const unreadable = (data: string): RpcErrorJson => ({ code: -32602, message: 'Invalid params', data })
const gasOf = ([request]: readonly Json[]): number => Number(isObject(request) ? request['gas'] : undefined)
/** Address of the only overridden account. */
const addressOf = (overrides: Json | undefined): string => (isObject(overrides) ? String(Object.keys(overrides)[0]).toLowerCase() : '')

type Translation = readonly [pattern: RegExp, ours: (match: RegExpExecArray, asked: Asked) => RpcErrorJson]

/** Errors of op-geth and op-node, and the error of the newer client for the same cause. */
const translations: readonly Translation[] = [
  [/^the method \S+ does not exist/, () => ({ code: -32601, message: 'Method not found' })],
  [/hex string has length \d+, want 40/, () => unreadable('invalid string length')],
  [/hex string without 0x prefix/, () => unreadable('hex string without 0x prefix')],
  [/hex string of odd length/, () => unreadable('odd number of digits')],
  [/^missing value for required argument/, () => unreadable('No more params')],
  [/cannot specify both/, () => unreadable('cannot specify both blockHash and fromBlock/toBlock, choose one or the other')],
  [/^header not found$/, (_match, { params }) => ({ code: -32001, message: `block not found: ${params.at(-1)}` })],
  [/^invalid block range params$/, ([message]) => ({ code: -32602, message })],
  [/^both gasPrice and .*$/, ([message]) => ({ code: -32602, message })],
  [
    /insufficient funds.*: address \S+ (have \d+ want \d+)/,
    ([, amounts]) => rejected(`insufficient funds for gas * price + value: ${amounts}`),
  ],
  [/^out of gas$/, (_match, { params }) => rejected(`out of gas: gas required exceeds: ${gasOf(params)}`)],
  [
    /has both 'state' and 'stateDiff'$/,
    (_match, { params }) => ({ code: -32602, message: `account ${addressOf(params[2])} has both 'state' and 'stateDiff'` }),
  ],
  [/^stack underflow/, () => rejected('EVM error: StackUnderflow')],
  [
    /^(?:transaction type not supported|rlp: value size exceeds available input length)$/,
    () => ({ code: -32602, message: 'failed to decode signed transaction' }),
  ],
  [/^filter not found$/, ([message]) => ({ code: -32602, message })],
  [/intrinsic gas too low/, ([message]) => ({ code: -32000, message })],
  [
    /max fee per gas less than block base fee|max priority fee per gas higher than max fee/,
    () => ({ code: -32000, message: 'max fee per gas less than block base fee' }),
  ],
  [/^failed to get L2 block ref .* not found$/, () => ({ code: -32603, message: 'Internal error' })],
]

function translated(error: RpcErrorJson, asked: Asked): RpcErrorJson {
  if (error.code === 3) return { ...error, message: error.message.replace('assert(false)', 'panic: assertion failed (0x01)') }
  for (const [pattern, ours] of translations) {
    const match = pattern.exec(error.message)
    if (match) return ours(match, asked)
  }
  return error
}

const errors: readonly Cause[] = [
  {
    name: "code and text of an error are op-geth's",
    methods: /./,
    right: ({ theirs, ours }, asked) => ({ theirs: 'error' in theirs ? { error: translated(theirs.error, asked) } : theirs, ours }),
  },
  {
    name: 'the error has no position in the params',
    methods: /./,
    right: ({ theirs, ours }) => {
      if (!('error' in ours) || typeof ours.error.data !== 'string') return { theirs, ours }
      return { theirs, ours: { error: { ...ours.error, data: ours.error.data.replace(/ at line \d+ column \d+$/, '') } } }
    },
  },
]

/** Replaces the recorded outcome of some requests by the outcome of the newer client. */
const requests: readonly Cause[] = [
  {
    name: 'leading zeros of a block number are refused',
    methods: blocks,
    right({ theirs, ours }, { method, params: [block, isFull], recorded }) {
      const same = /^0x0+[1-9a-f]/.test(String(block)) ? recorded(method, [`0x${Number(block).toString(16)}`, true]) : undefined
      if (!isObject(same) || !Array.isArray(same['transactions'])) return { theirs, ours }
      const transactions = isFull === true ? same['transactions'] : same['transactions'].map(({ hash }) => hash)
      return { theirs: { result: { ...same, transactions } }, ours }
    },
  },
  {
    name: 'a range of logs may end after the head',
    methods: /^eth_getLogs$/,
    right({ theirs, ours }, { params: [filter], head }) {
      const isBeyond = isObject(filter) && Number(filter['toBlock']) > head
      return { theirs: isBeyond ? { error: { code: -32602, message: 'block range extends beyond current head block' } } : theirs, ours }
    },
  },
  {
    name: 'a call may have data and another input',
    methods: /^eth_call$/,
    right({ theirs, ours }, { params: [call] }) {
      const { data, input } = isObject(call) ? call : {}
      if (data === undefined || input === undefined || data === input) return { theirs, ours }
      const message = 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data'
      return { theirs: { error: { code: -32602, message } }, ours }
    },
  },
]

/** Known differences between op-geth with op-node and this node, whose results follow the newer client. */
export const opGethCauses: readonly Cause[] = [...requests, ...errors, ...results]

import { tipPerGas } from '#block/validation/transactionValidity'
import { fromHex, toHex, toQuantity } from '#lib/hex'
import { type Address, emptyCodeHash, type Hash, parseAddress, parseHash, zeroAddress } from '#types/ids'
import { addressField, bigintField, bytesField, has, objectOf, ShapeError } from '#types/jsonShape'
import { RpcRefusal } from '../l1Server.ts'
import type { Json } from './l1Json.ts'
import { blockJson, logsJson, receiptsJson, transactionJson } from './l1Json.ts'
import { envOf, type MemoryBlock } from './memoryBlock.ts'
import { leastGas, type Tried, type TriedCall, tryCall } from './memoryCalls.ts'
import type { MemoryChain } from './memoryChain.ts'
import { accountOf, slotOf } from './memoryState.ts'

const invalid = (message: string): RpcRefusal => new RpcRefusal(-32_602, message)

/** Distance of each label behind the head, in blocks. */
const labels: Readonly<Record<string, number>> = { latest: 0, pending: 0, safe: 2, finalized: 4 }
const suggestedTip = 1_000_000_000n
const maxBlocksInHistory = 1_024

type Params = readonly unknown[]
type Method = (chain: MemoryChain, params: Params) => unknown

function blockAt(chain: MemoryChain, at: unknown): MemoryBlock | undefined {
  if (at === undefined || at === null) return chain.head
  if (typeof at === 'object') {
    const json = objectOf(at, 'block')
    return blockAt(chain, json['blockHash'] ?? json['blockNumber'])
  }
  if (typeof at !== 'string') throw invalid('invalid block parameter')
  const { number } = chain.head.header
  const behind = labels[at]
  if (behind !== undefined) return chain.block(Math.max(0, number - behind))
  if (at === 'earliest') return chain.block(0)
  if (at.length === 66) return chain.block(parseHash(at))
  if (!/^0x[0-9a-f]{1,12}$/i.test(at)) throw invalid('invalid block parameter')
  return chain.block(Number(at))
}

function knownBlock(chain: MemoryChain, at: unknown): MemoryBlock {
  const block = blockAt(chain, at)
  if (!block) throw new RpcRefusal(-32_001, 'block not found')
  return block
}

const stateAt = (chain: MemoryChain, at: unknown): number => knownBlock(chain, at).header.number

const hashParam = (value: unknown): Hash => parseHash(String(value))
const addressParam = (value: unknown): Address => parseAddress(String(value))

function callParam(value: unknown): TriedCall {
  const json = objectOf(value, 'call')
  const data = has(json, 'input') ? 'input' : 'data'
  return {
    from: has(json, 'from') ? addressField(json, 'from') : zeroAddress,
    to: has(json, 'to') ? addressField(json, 'to') : null,
    value: has(json, 'value') ? bigintField(json, 'value') : 0n,
    data: has(json, data) ? bytesField(json, data) : new Uint8Array(),
    ...(has(json, 'gas') && { gas: bigintField(json, 'gas') }),
  }
}

/** Returns the output of a successful call. */
function outputOf(tried: Tried): Uint8Array {
  if (tried.kind === 'unpaid') throw new RpcRefusal(-32_000, 'insufficient funds for gas * price + value')
  const { outcome } = tried
  if (outcome.kind === 'success') return outcome.output
  if (outcome.kind === 'revert') throw new RpcRefusal(3, 'execution reverted', toHex(outcome.output))
  throw new RpcRefusal(-32_000, outcome.reason)
}

function feeHistory(chain: MemoryChain, params: Params): Json {
  const count = Math.min(Number(params[0]), maxBlocksInHistory)
  const newest = knownBlock(chain, params[1]).header.number
  if (!Number.isSafeInteger(count) || count < 0) throw invalid('invalid block count')
  const percentiles = Array.isArray(params[2]) ? params[2].map(Number) : undefined
  const oldest = Math.max(0, newest - count + 1)
  const blocks = Array.from({ length: newest - oldest + 1 }, (_, i) => knownBlock(chain, toQuantity(oldest + i)))
  const after = chain.block(newest + 1)?.header ?? chain.pending()
  const headers = [...blocks.map(({ header }) => header), after]
  return {
    oldestBlock: toQuantity(oldest),
    baseFeePerGas: headers.map(({ baseFeePerGas = 0n }) => toQuantity(baseFeePerGas)),
    gasUsedRatio: blocks.map(({ header }) => Number(header.gasUsed) / Number(header.gasLimit)),
    baseFeePerBlobGas: headers.map((header) => toQuantity(envOf(chain.options.chainId, header).blobBaseFee)),
    blobGasUsedRatio: blocks.map(({ header }) => Number(header.blobGasUsed ?? 0n) / (9 * 131_072)),
    ...(percentiles && { reward: blocks.map((block) => percentiles.map((percentile) => toQuantity(tipOfBlock(block, percentile)))) }),
  }
}

function tipOfBlock({ header, mined }: MemoryBlock, percentile: number): bigint {
  const tips = mined.map(({ tx }) => tipPerGas(tx, header.baseFeePerGas ?? 0n)).sort((a, b) => (a < b ? -1 : 1))
  return tips[Math.min(tips.length - 1, Math.floor((percentile / 100) * tips.length))] ?? 0n
}

function matches(filter: unknown, value: string | undefined): boolean {
  if (filter === null || filter === undefined) return true
  const any = Array.isArray(filter) ? filter : [filter]
  return any.length === 0 || any.some((each) => String(each).toLowerCase() === value)
}

function getLogs(chain: MemoryChain, params: Params): readonly Json[] {
  const filter = objectOf(params[0], 'filter')
  const topics = Array.isArray(filter['topics']) ? filter['topics'] : []
  const from = knownBlock(chain, filter['blockHash'] ?? filter['fromBlock']).header.number
  const to = has(filter, 'blockHash') ? from : (blockAt(chain, filter['toBlock'])?.header.number ?? chain.head.header.number)
  const blocks = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => knownBlock(chain, toQuantity(from + i)))
  return blocks
    .flatMap(logsJson)
    .filter(({ log }) => matches(filter['address'], log.address) && topics.every((topic, i) => matches(topic, log.topics[i])))
    .map(({ json }) => json)
}

function block(chain: MemoryChain, params: Params): Json | null {
  const found = blockAt(chain, params[0])
  return found ? blockJson(found, params[1] === true ? 'full' : 'hashes') : null
}

function code(chain: MemoryChain, params: Params): string {
  const view = chain.view(stateAt(chain, params[1]))
  const { codeHash = emptyCodeHash } = accountOf(view, addressParam(params[0])) ?? {}
  return codeHash === emptyCodeHash ? '0x' : toHex(view.code(codeHash))
}

function transaction(chain: MemoryChain, params: Params): Json | null {
  const hash = hashParam(params[0])
  const place = chain.place(hash)
  if (place) return transactionJson(place.mined, place)
  const waiting = chain.pool.get(hash)
  return waiting ? transactionJson(waiting) : null
}

function rawTransaction(chain: MemoryChain, params: Params): string | null {
  const hash = hashParam(params[0])
  const found = chain.place(hash)?.mined ?? chain.pool.get(hash)
  return found ? toHex(found.raw) : null
}

function transactionCount(chain: MemoryChain, params: Params): string {
  const which = params[1] === 'pending' ? 'waiting' : 'mined'
  return toQuantity(chain.nonce(addressParam(params[0]), which, stateAt(chain, params[1])))
}

function storage(chain: MemoryChain, params: Params): string {
  const slot = bigintField({ slot: params[1] }, 'slot')
  return toHex(slotOf(chain.view(stateAt(chain, params[2])), addressParam(params[0]), slot))
}

function receipts(chain: MemoryChain, params: Params): readonly Json[] | null {
  const found = blockAt(chain, params[0])
  return found ? receiptsJson(chain.options.chainId, found) : null
}

function receipt(chain: MemoryChain, params: Params): Json | null {
  const place = chain.place(hashParam(params[0]))
  return place ? (receiptsJson(chain.options.chainId, place.block)[place.index] ?? null) : null
}

function estimateGas(chain: MemoryChain, params: Params): string {
  const least = leastGas(chain, stateAt(chain, params[1]), callParam(params[0]))
  if (typeof least === 'bigint') return toQuantity(least)
  outputOf(least)
  throw new RpcRefusal(-32_000, 'gas required exceeds allowance')
}

function send(chain: MemoryChain, params: Params): Hash {
  const submitted = chain.submit(fromHex(String(params[0])))
  if (submitted.kind === 'refused') throw new RpcRefusal(-32_000, submitted.reason)
  return submitted.hash
}

const methods: Readonly<Record<string, Method>> = {
  eth_chainId: ({ options }) => toQuantity(options.chainId),
  net_version: ({ options }) => String(options.chainId),
  net_listening: () => true,
  web3_clientVersion: () => 'basalt-devnet-l1',
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_blockNumber: ({ head }) => toQuantity(head.header.number),
  eth_getBlockByNumber: block,
  eth_getBlockByHash: block,
  eth_getBlockReceipts: receipts,
  eth_getBlockTransactionCountByNumber: (chain, params) => toQuantity(knownBlock(chain, params[0]).mined.length),
  eth_getTransactionByHash: transaction,
  eth_getTransactionReceipt: receipt,
  eth_getRawTransactionByHash: rawTransaction,
  eth_getLogs: getLogs,
  eth_getBalance: (chain, params) => toQuantity(accountOf(chain.view(stateAt(chain, params[1])), addressParam(params[0]))?.balance ?? 0n),
  eth_getTransactionCount: transactionCount,
  eth_getCode: code,
  eth_getStorageAt: storage,
  eth_call: (chain, params) => toHex(outputOf(tryCall(chain, stateAt(chain, params[1]), callParam(params[0])))),
  eth_estimateGas: estimateGas,
  eth_gasPrice: (chain) => toQuantity((chain.pending().baseFeePerGas ?? 0n) + suggestedTip),
  eth_maxPriorityFeePerGas: () => toQuantity(suggestedTip),
  eth_blobBaseFee: (chain) => toQuantity(envOf(chain.options.chainId, chain.pending()).blobBaseFee),
  eth_feeHistory: feeHistory,
  eth_sendRawTransaction: send,
}

/** Returns the chain's JSON-RPC methods as one function. It throws RpcRefusal for an error response. */
export function callOf(chain: MemoryChain): (method: string, params: Params) => unknown {
  return (method, params) => {
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (!run) throw new RpcRefusal(-32_601, `the method ${method} does not exist`)
    try {
      return run(chain, params)
    } catch (error) {
      if (error instanceof ShapeError || error instanceof SyntaxError) throw invalid(error.message)
      throw error
    }
  }
}

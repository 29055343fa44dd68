import type { L1Label } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import { isFault } from '#lib/fault'
import { fromHex, toQuantity } from '#lib/hex'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { bytesField, hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'
import type { Endpoint } from './endpoint.ts'
import type { Failover } from './failover.ts'
import { l1Fault } from './faults.ts'
import { receiptFromJson } from './receiptJson.ts'
import type { Rpc, RpcCall } from './rpc.ts'
import { type CheckedHeader, type Verdict, verifyBody, verifyHeader } from './verifyBlock.ts'

/** L1 blocks from JSON-RPC endpoints: nothing is handed out that its hash does not prove. */
export interface L1Blocks {
  head(label: L1Label, signal: AbortSignal): Promise<L1Ref | undefined>
  ref(number: number, signal: AbortSignal): Promise<L1Ref | undefined>
  block(at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined>
}

/** How clients say that a block is not there; a method that is not there is another matter. */
const unknownBlock = /unknown block|(?:block|header)\b.* not (?:found|available)|not found.* block/i
const isUnknownBlock = (error: unknown): boolean =>
  isFault(error, 'L1_RPC_ERROR') && error.data['code'] !== -32_601 && unknownBlock.test(String(error.data['message']))

export function createL1Blocks(deps: { readonly rpc: Rpc; readonly failover: Failover }, options: { readonly chainId: number }): L1Blocks {
  const { rpc, failover } = deps
  /** Endpoints whose chain id was seen to be right. */
  const known = new Set<string>()

  async function checkChain(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    if (known.has(endpoint.name)) return
    const [result] = await rpc.call(endpoint, [{ method: 'eth_chainId', params: [] }], signal)
    const found = typeof result === 'string' ? Number(result) : Number.NaN
    if (!Number.isSafeInteger(found)) throw new ShapeError('chain id is no quantity')
    if (found !== options.chainId) throw l1Fault('L1_WRONG_CHAIN', { endpoint: endpoint.name, expected: options.chainId, found })
    known.add(endpoint.name)
  }

  /** Asks one endpoint after another; an answer of the wrong shape is the endpoint's fault. */
  function ask<T>(asked: string, signal: AbortSignal, run: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    return failover.run(signal, async (endpoint) => {
      try {
        await checkChain(endpoint, signal)
        return await run(endpoint)
      } catch (error) {
        if (error instanceof ShapeError) throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked, reason: error.message })
        throw error
      }
    })
  }

  function must<T>(endpoint: Endpoint, block: number | string, verdict: Verdict<T>): T {
    if (verdict.kind === 'verified') return verdict.value
    const { what, expected, computed } = verdict
    throw l1Fault('L1_BLOCK_MISMATCH', { endpoint: endpoint.name, block, what, expected, computed })
  }

  /** A verified header that is the one asked for; labels may be any block. */
  function checkedHeader(endpoint: Endpoint, at: number | string, json: Json): CheckedHeader {
    const checked = must(endpoint, at, verifyHeader(json))
    const { hash, number } = checked.ref
    const isAsked = typeof at === 'number' ? number === at : !at.startsWith('0x') || hash === at
    if (isAsked) return checked
    const computed = typeof at === 'number' ? String(number) : hash
    throw l1Fault('L1_BLOCK_MISMATCH', { endpoint: endpoint.name, block: at, what: 'identity', expected: String(at), computed })
  }

  async function headerAt(endpoint: Endpoint, at: number | L1Label, signal: AbortSignal): Promise<L1Ref | undefined> {
    const tag = typeof at === 'number' ? toQuantity(at) : at
    const [json] = await rpc.call(endpoint, [{ method: 'eth_getBlockByNumber', params: [tag, false] }], signal)
    return json === null ? undefined : checkedHeader(endpoint, at, objectOf(json, 'block')).ref
  }

  /** Raw bytes of all transactions; those that this version cannot encode are asked for. The root decides whether they are right. */
  async function transactionsOf(endpoint: Endpoint, json: Json, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const items = listOf(json['transactions'], 'transactions')
    const encoded = items.map(transactionFromJson)
    const unknown = items.filter((_, i) => encoded[i] === undefined).map((item) => hashField(objectOf(item, 'transaction'), 'hash'))
    if (unknown.length === 0) return encoded.filter((raw) => raw !== undefined)
    const calls = unknown.map((hash): RpcCall => ({ method: 'eth_getRawTransactionByHash', params: [hash] }))
    const answers = await rpc.call(endpoint, calls, signal)
    const raws = answers.map((raw) => bytesField({ raw }, 'raw'))
    if (raws.some((raw) => raw.length === 0)) throw new ShapeError('an empty transaction')
    return encoded.map((raw) => raw ?? raws.shift() ?? fromHex('0x'))
  }

  async function blockAt(endpoint: Endpoint, at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined> {
    const [method, param] = typeof at === 'number' ? ['eth_getBlockByNumber', toQuantity(at)] : ['eth_getBlockByHash', at]
    const calls: RpcCall[] = [
      { method, params: [param, true] },
      { method: 'eth_getBlockReceipts', params: [param] },
    ]
    const [blockJson, receiptsJson] = await rpc.call(endpoint, calls, signal)
    if (blockJson === null) return undefined
    const json = objectOf(blockJson, 'block')
    const header = checkedHeader(endpoint, at, json)
    if (receiptsJson === null) throw new ShapeError(`no receipts of block ${header.ref.number}`)
    const receipts = listOf(receiptsJson, 'receipts').map(receiptFromJson)
    const transactions = await transactionsOf(endpoint, json, signal)
    return must(endpoint, header.ref.number, verifyBody(header, transactions, receipts))
  }

  /** Some clients answer an error instead of null for a block that is not there. */
  async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer
    } catch (error) {
      if (isUnknownBlock(error)) return undefined
      throw error
    }
  }

  return {
    head: (label, signal) => ask(`${label} block`, signal, (endpoint) => orUndefined(headerAt(endpoint, label, signal))),
    ref: (number, signal) => ask(`block ${number}`, signal, (endpoint) => orUndefined(headerAt(endpoint, number, signal))),
    block: (at, signal) => ask(`block ${at}`, signal, (endpoint) => orUndefined(blockAt(endpoint, at, signal))),
  }
}

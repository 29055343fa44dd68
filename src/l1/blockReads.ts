import type { L1Label } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { Endpoint } from '#lib/endpoint'
import { isFault } from '#lib/fault'
import { fromHex, toQuantity } from '#lib/hex'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { bytesField, hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'
import { l1Fault } from './faults.ts'
import { receiptFromJson } from './receiptJson.ts'
import type { Rpc, RpcCall } from './rpc.ts'
import { type CheckedHeader, type Verdict, verifyBody, verifyHeader } from './verifyBlock.ts'

/** Returns whether an error of an endpoint means that it does not know the block. */
export const meansUnknownBlockFault = (error: unknown): boolean => isFault(error, 'L1_RPC_ERROR') && error.data['isUnknownBlock'] === true

function must<T>(endpoint: Endpoint, block: number | string, verdict: Verdict<T>): T {
  if (verdict.kind === 'verified') return verdict.value
  const { what, expected, computed } = verdict
  throw l1Fault('L1_BLOCK_MISMATCH', { endpoint: endpoint.name, block, what, expected, computed })
}

/** Returns the verified header, after a check that it is the requested block. A label accepts any block. */
function checkedHeader(endpoint: Endpoint, at: number | string, json: Json): CheckedHeader {
  const checked = must(endpoint, at, verifyHeader(json))
  const { hash, number } = checked.ref
  const isAsked = typeof at === 'number' ? number === at : !at.startsWith('0x') || hash === at
  if (isAsked) return checked
  const computed = typeof at === 'number' ? String(number) : hash
  throw l1Fault('L1_BLOCK_MISMATCH', { endpoint: endpoint.name, block: at, what: 'identity', expected: String(at), computed })
}

const transactionHashes = (json: Json): readonly Hash[] =>
  listOf(json['transactions'], 'transactions').map((item) => hashField(objectOf(item, 'transaction'), 'hash'))

export type BlockReadsOptions = {
  /** In a block with blobs, accepts the endpoint's transaction hashes in place of a mismatched root. For anvil only. */
  readonly trustTransactions?: boolean
}

/** Reads blocks from one endpoint and verifies them. Errors: Fault L1_BLOCK_MISMATCH and those of `Rpc`; ShapeError for a response of the wrong shape. */
export class BlockReads {
  readonly #rpc: Rpc
  readonly #options: BlockReadsOptions

  constructor(rpc: Rpc, options: BlockReadsOptions) {
    this.#rpc = rpc
    this.#options = options
  }

  /**
   * Returns labelled blocks. An endpoint without a finalized block may answer the whole batch with an error, so each label is then requested alone.
   */
  async labelled(endpoint: Endpoint, labels: readonly L1Label[], signal: AbortSignal): Promise<readonly (L1Ref | undefined)[]> {
    try {
      return await this.#headersAt(endpoint, labels, signal)
    } catch (error) {
      if (!meansUnknownBlockFault(error)) throw error
      if (labels.length === 1) return [undefined]
      const refs: (L1Ref | undefined)[] = []
      for (const label of labels) refs.push(...(await this.labelled(endpoint, [label], signal)))
      return refs
    }
  }

  async ref(endpoint: Endpoint, number: number, signal: AbortSignal): Promise<L1Ref | undefined> {
    return (await this.#headersAt(endpoint, [number], signal))[0]
  }

  async block(endpoint: Endpoint, at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined> {
    const [method, param] =
      typeof at === 'number' ? (['eth_getBlockByNumber', toQuantity(at)] as const) : (['eth_getBlockByHash', at] as const)
    const calls: RpcCall[] = [
      { method, params: [param, true] },
      { method: 'eth_getBlockReceipts', params: [param] },
    ]
    const [blockJson, receiptsJson] = await this.#rpc.call(endpoint, calls, signal)
    if (blockJson === null) return undefined
    const json = objectOf(blockJson, 'block')
    const header = checkedHeader(endpoint, at, json)
    if (receiptsJson === null) throw new ShapeError(`no receipts of block ${header.ref.number}`)
    const receipts = listOf(receiptsJson, 'receipts').map(receiptFromJson)
    const transactions = await this.#transactionsOf(endpoint, json, signal)
    const listed = this.#options.trustTransactions ? transactionHashes(json) : undefined
    return must(endpoint, header.ref.number, verifyBody(header, transactions, receipts, listed))
  }

  async #headersAt(endpoint: Endpoint, at: readonly (number | L1Label)[], signal: AbortSignal): Promise<readonly (L1Ref | undefined)[]> {
    const calls = at.map((one): RpcCall => {
      return { method: 'eth_getBlockByNumber', params: [typeof one === 'number' ? toQuantity(one) : one, false] }
    })
    const answers = await this.#rpc.call(endpoint, calls, signal)
    return at.map((one, i) => (answers[i] === null ? undefined : checkedHeader(endpoint, one, objectOf(answers[i], 'block')).ref))
  }

  /**
   * Returns the EIP-2718 bytes of all transactions. Types that cannot be encoded here are requested as raw bytes; the transactions root verifies
   * them.
   */
  async #transactionsOf(endpoint: Endpoint, json: Json, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const items = listOf(json['transactions'], 'transactions')
    const encoded = items.map(transactionFromJson)
    const unknown = items.filter((_, i) => encoded[i] === undefined).map((item) => hashField(objectOf(item, 'transaction'), 'hash'))
    if (unknown.length === 0) return encoded.filter((raw) => raw !== undefined)
    const calls = unknown.map((hash): RpcCall => ({ method: 'eth_getRawTransactionByHash', params: [hash] }))
    const answers = await this.#rpc.call(endpoint, calls, signal)
    const raws = answers.map((raw) => bytesField({ raw }, 'raw'))
    if (raws.some((raw) => raw.length === 0)) throw new ShapeError('empty transaction')
    return encoded.map((raw) => raw ?? raws.shift() ?? fromHex('0x'))
  }
}

import type { L1Label } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { Endpoint } from '#lib/endpoint'
import { isFault } from '#lib/fault'
import { fromHex, toQuantity } from '#lib/hex'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { bytesField, hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'
import type { Agreement } from './agreement.ts'
import type { Failover, QuestionKind } from './failover.ts'
import { l1Fault } from './faults.ts'
import { receiptFromJson } from './receiptJson.ts'
import type { Rpc, RpcCall } from './rpc.ts'
import { type CheckedHeader, type Verdict, verifyBody, verifyHeader } from './verifyBlock.ts'

/** L1 blocks from JSON-RPC endpoints. Every returned block is verified against its hash. */
export interface L1Blocks {
  /** Returns labelled blocks, in the order of the labels, with one request; undefined for a label without a block (yet). */
  heads(labels: readonly L1Label[], signal: AbortSignal): Promise<readonly (L1Ref | undefined)[]>
  /**
   * Returns the head of the first endpoint whose head is above the number, and queries endpoints that are behind it last from then on; undefined when
   * no endpoint has a higher head. Returns undefined without a request when there is only one endpoint.
   */
  newerHead(above: number, signal: AbortSignal): Promise<L1Ref | undefined>
  ref(number: number, signal: AbortSignal): Promise<L1Ref | undefined>
  block(at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined>
  /**
   * Checks that every endpoint serves the rollup's L1. Endpoints that serve another chain are excluded. Endpoints that do not respond are checked
   * when they are used.
   * @throws Fault L1_WRONG_CHAIN (fatal) when all endpoints are excluded
   */
  agree(signal: AbortSignal): Promise<void>
}

/** Returns whether an error of an endpoint means that it does not know the block. */
export const meansUnknownBlockFault = (error: unknown): boolean => isFault(error, 'L1_RPC_ERROR') && error.data['isUnknownBlock'] === true

export type L1BlocksDeps = { readonly rpc: Rpc; readonly failover: Failover; readonly agreement: Agreement }
export type L1BlocksOptions = {
  /** In a block with blobs, accepts the endpoint's transaction hashes in place of a mismatched root. For anvil only. */
  readonly trustTransactions?: boolean
}

export function createL1Blocks({ rpc, failover, agreement }: L1BlocksDeps, options: L1BlocksOptions = {}): L1Blocks {
  /** Highest block that any endpoint has returned. An endpoint without it is behind. */
  let highest = -1

  /** Converts a response of the wrong shape to a Fault that names the endpoint. */
  const asking =
    <T>(asked: string, run: (endpoint: Endpoint, signal: AbortSignal) => Promise<T>) =>
    async (endpoint: Endpoint, signal: AbortSignal): Promise<T> => {
      try {
        await agreement.check(endpoint, signal)
        return await run(endpoint, signal)
      } catch (error) {
        if (error instanceof ShapeError) throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked, reason: error.message })
        throw error
      }
    }

  /** Queries one endpoint for a block above the highest known block. For a known block, queries the next endpoint when one does not have it. */
  function askFor<T>(
    kind: QuestionKind,
    at: number | Hash,
    signal: AbortSignal,
    run: (endpoint: Endpoint, signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const ask = asking(`block ${at}`, (endpoint, stop) => orUndefined(run(endpoint, stop)))
    return typeof at === 'number' && at > highest ? failover.run(kind, signal, ask) : failover.find(kind, signal, ask)
  }

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

  async function headersAt(
    endpoint: Endpoint,
    at: readonly (number | L1Label)[],
    signal: AbortSignal,
  ): Promise<readonly (L1Ref | undefined)[]> {
    const calls = at.map((one): RpcCall => {
      return { method: 'eth_getBlockByNumber', params: [typeof one === 'number' ? toQuantity(one) : one, false] }
    })
    const answers = await rpc.call(endpoint, calls, signal)
    return at.map((one, i) => (answers[i] === null ? undefined : checkedHeader(endpoint, one, objectOf(answers[i], 'block')).ref))
  }

  /**
   * Returns labelled blocks. An endpoint without a finalized block may answer the whole batch with an error, so each label is then requested alone.
   */
  async function labelled(endpoint: Endpoint, labels: readonly L1Label[], signal: AbortSignal): Promise<readonly (L1Ref | undefined)[]> {
    try {
      return await headersAt(endpoint, labels, signal)
    } catch (error) {
      if (!meansUnknownBlockFault(error)) throw error
      if (labels.length === 1) return [undefined]
      const refs: (L1Ref | undefined)[] = []
      for (const label of labels) refs.push(...(await labelled(endpoint, [label], signal)))
      return refs
    }
  }

  const transactionHashes = (json: Json): readonly Hash[] =>
    listOf(json['transactions'], 'transactions').map((item) => hashField(objectOf(item, 'transaction'), 'hash'))

  /**
   * Returns the EIP-2718 bytes of all transactions. Types that cannot be encoded here are requested as raw bytes; the transactions root verifies
   * them.
   */
  async function transactionsOf(endpoint: Endpoint, json: Json, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const items = listOf(json['transactions'], 'transactions')
    const encoded = items.map(transactionFromJson)
    const unknown = items.filter((_, i) => encoded[i] === undefined).map((item) => hashField(objectOf(item, 'transaction'), 'hash'))
    if (unknown.length === 0) return encoded.filter((raw) => raw !== undefined)
    const calls = unknown.map((hash): RpcCall => ({ method: 'eth_getRawTransactionByHash', params: [hash] }))
    const answers = await rpc.call(endpoint, calls, signal)
    const raws = answers.map((raw) => bytesField({ raw }, 'raw'))
    if (raws.some((raw) => raw.length === 0)) throw new ShapeError('empty transaction')
    return encoded.map((raw) => raw ?? raws.shift() ?? fromHex('0x'))
  }

  async function blockAt(endpoint: Endpoint, at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined> {
    const [method, param] =
      typeof at === 'number' ? (['eth_getBlockByNumber', toQuantity(at)] as const) : (['eth_getBlockByHash', at] as const)
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
    const listed = options.trustTransactions ? transactionHashes(json) : undefined
    return must(endpoint, header.ref.number, verifyBody(header, transactions, receipts, listed))
  }

  /** Returns undefined for the error by which some clients report an unknown block, in place of null. */
  async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer
    } catch (error) {
      if (meansUnknownBlockFault(error)) return undefined
      throw error
    }
  }

  return {
    async heads(labels, signal): Promise<readonly (L1Ref | undefined)[]> {
      const ask = asking(`${labels.join(' and ')} block`, (endpoint, stop) => labelled(endpoint, labels, stop))
      const refs = await failover.run('head', signal, ask)
      for (const ref of refs) highest = Math.max(highest, ref?.number ?? -1)
      return refs
    },
    async newerHead(above, signal): Promise<L1Ref | undefined> {
      if (failover.size < 2) return undefined
      const behind: Endpoint[] = []
      const ask = asking('latest block', async (endpoint, stop) => {
        const [ref] = await labelled(endpoint, ['latest'], stop)
        if (ref !== undefined && ref.number > above) return ref
        behind.push(endpoint)
        return undefined
      })
      const ref = await failover.find('head', signal, ask)
      if (ref === undefined) return undefined
      for (const endpoint of behind) failover.demote(endpoint)
      highest = Math.max(highest, ref.number)
      return ref
    },
    async ref(number, signal): Promise<L1Ref | undefined> {
      return askFor('head', number, signal, async (endpoint, stop) => (await headersAt(endpoint, [number], stop))[0])
    },
    block: (at, signal) => askFor('block', at, signal, (endpoint, stop) => blockAt(endpoint, at, stop)),
    agree: (signal) =>
      failover.each(
        signal,
        asking('chain id', async () => {}),
      ),
  }
}

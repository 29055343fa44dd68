import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { payloadOfBlockJson } from '#engine/blockJson'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { toQuantity } from '#lib/hex'
import type { Log } from '#lib/log'
import { isRetryable } from '#lib/retry'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { hashField, numberField, objectOf, ShapeError } from '#types/jsonShape'
import type { Payload } from '#types/payload'
import { l2Fault } from './faults.ts'
import type { L2Metrics } from './metrics.ts'
import type { RpcCall, SourceRpc } from './rpc.ts'

export type SourceBlocksDeps = {
  readonly rpc: SourceRpc
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<L2Metrics, 'blocks'>
}

/** Blocks of the followed node, each verified against its hash. */
export interface SourceBlocks {
  /**
   * Returns a labelled head.
   * @throws Fault SOURCE_WRONG_CHAIN (fatal), at the first request; those of the calls
   */
  head(label: 'latest' | 'safe' | 'finalized', signal: AbortSignal): Promise<BlockId | undefined>
  /** Returns blocks in a row: fewer than asked for where the source's chain ends or changes, or when the endpoint fails after the first ones. */
  payloads(from: number, count: number, signal: AbortSignal): Promise<readonly Payload[]>
  payload(hash: Hash, signal: AbortSignal): Promise<Payload | undefined>
}

/** Maximum time before other tasks of the thread run. */
const breathMs = 20
/** Maximum number of blocks in one request; reduced for an endpoint that fails on it. */
const maxBatchBlocks = 32

const byNumber = (number: number): RpcCall => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), true] })

export function createSourceBlocks(
  { rpc, clock, log, metrics }: SourceBlocksDeps,
  { endpoint, config }: { readonly endpoint: string; readonly config: RollupConfig },
): SourceBlocks {
  let isChecked = false
  let batchBlocks = maxBatchBlocks

  function shaped<T>(block: string, read: () => T): T {
    try {
      const value = read()
      metrics.blocks.inc({ outcome: 'ok' })
      return value
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      metrics.blocks.inc({ outcome: 'wrong' })
      throw l2Fault('SOURCE_BAD_BLOCK', { endpoint, block, reason: error.message }, error)
    }
  }

  async function checkChain(signal: AbortSignal): Promise<void> {
    if (isChecked) return
    const { l2ChainId, genesis } = config
    const [chainId, first] = await rpc.call(
      [
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(genesis.l2.number), false] },
      ],
      signal,
    )
    const differ = (what: string, expected: string, found: string): Error =>
      l2Fault('SOURCE_WRONG_CHAIN', { endpoint, what, expected, found })
    if (typeof chainId !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(chainId))
      throw l2Fault('SOURCE_BAD_ANSWER', { endpoint, asked: 'eth_chainId', reason: 'not a quantity' })
    if (Number(chainId) !== l2ChainId) throw differ('chain id', `${l2ChainId}`, `${Number(chainId)}`)
    if (first === null) log.warn('genesis block of the followed node is unknown, only its chain id was checked', { endpoint })
    else {
      const hash = shaped('genesis', () => hashField(objectOf(first, 'block'), 'hash'))
      if (hash !== genesis.l2.hash) throw differ('genesis block', genesis.l2.hash, hash)
    }
    isChecked = true
  }

  async function head(label: 'latest' | 'safe' | 'finalized', signal: AbortSignal): Promise<BlockId | undefined> {
    await checkChain(signal)
    try {
      const [json] = await rpc.call([{ method: 'eth_getBlockByNumber', params: [label, false] }], signal)
      if (json === null) return undefined
      return shaped(label, () => {
        const block = objectOf(json, 'block')
        return { hash: hashField(block, 'hash'), number: numberField(block, 'number') }
      })
    } catch (error) {
      if (label !== 'latest' && isFault(error, 'SOURCE_RPC_ERROR') && error.data['isUnknownBlock']) return undefined
      throw error
    }
  }

  /** Returns the results of a batch, with fewer blocks when the endpoint fails on the batch. */
  async function fetchSome(from: number, count: number, signal: AbortSignal): Promise<readonly unknown[]> {
    for (;;) {
      const asked = Math.min(count, batchBlocks)
      const numbers = Array.from({ length: asked }, (_, at) => from + at)
      try {
        const results = await rpc.call(numbers.map(byNumber), signal)
        if (asked === batchBlocks) batchBlocks = Math.min(maxBatchBlocks, batchBlocks + 1)
        return results
      } catch (error) {
        const isTooMuch = isFault(error, 'SOURCE_BAD_ANSWER') || isFault(error, 'SOURCE_RPC_ERROR') || isFault(error, 'SOURCE_UNREACHABLE')
        if (!isTooMuch || asked === 1) throw error
        batchBlocks = Math.max(1, asked >> 1)
        if (isFault(error, 'SOURCE_UNREACHABLE')) throw error
      }
    }
  }

  /** As `fetchSome`; undefined when the endpoint fails for now. */
  async function fetchMore(from: number, count: number, signal: AbortSignal): Promise<readonly unknown[] | undefined> {
    try {
      return await fetchSome(from, count, signal)
    } catch (error) {
      if (!isRetryable(error)) throw error
      return undefined
    }
  }

  function payloadAt(number: number, json: unknown): Payload {
    return shaped(`${number}`, () => {
      const payload = payloadOfBlockJson(json)
      if (payload.blockNumber !== number) throw new ShapeError(`block number is ${payload.blockNumber}`)
      return payload
    })
  }

  /** Adds the next results. Returns false where the source's chain ends, or changed between two responses: the caller requests the next blocks again. */
  async function append(payloads: Payload[], from: number, results: readonly unknown[], signal: AbortSignal): Promise<boolean> {
    let breathedMs = clock.elapsedMs()
    for (const json of results) {
      if (json === null) return false
      const payload = payloadAt(from + payloads.length, json)
      const before = payloads.at(-1)
      if (before && payload.parentHash !== before.blockHash) return false
      payloads.push(payload)
      if (clock.elapsedMs() - breathedMs >= breathMs) {
        await nextTurn()
        signal.throwIfAborted()
        breathedMs = clock.elapsedMs()
      }
    }
    return true
  }

  return {
    head,
    async payloads(from, count, signal): Promise<readonly Payload[]> {
      await checkChain(signal)
      const payloads: Payload[] = []
      while (payloads.length < count) {
        const fetch = payloads.length === 0 ? fetchSome : fetchMore
        const results = await fetch(from + payloads.length, count - payloads.length, signal)
        if (results === undefined || !(await append(payloads, from, results, signal))) break
      }
      return payloads
    },
    async payload(hash, signal): Promise<Payload | undefined> {
      await checkChain(signal)
      const [json] = await rpc.call([{ method: 'eth_getBlockByHash', params: [hash, true] }], signal)
      if (json === null) return undefined
      return shaped(hash, () => {
        const payload = payloadOfBlockJson(json)
        if (payload.blockHash !== hash) throw new ShapeError(`block hash is ${payload.blockHash}`)
        return payload
      })
    },
  }
}

import type { L1Label } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { Endpoint } from '#lib/endpoint'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { ShapeError } from '#types/jsonShape'
import type { Agreement } from './agreement.ts'
import { BlockReads, type BlockReadsOptions, meansUnknownBlockFault } from './blockReads.ts'
import type { Failover, QuestionKind } from './failover.ts'
import { l1Fault } from './faults.ts'
import type { Rpc } from './rpc.ts'

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

export type L1BlocksDeps = { readonly rpc: Rpc; readonly failover: Failover; readonly agreement: Agreement }

/** Returns undefined for the error by which some clients report an unknown block, in place of null. */
async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (meansUnknownBlockFault(error)) return undefined
    throw error
  }
}

export function createL1Blocks({ rpc, failover, agreement }: L1BlocksDeps, options: BlockReadsOptions = {}): L1Blocks {
  const reads = new BlockReads(rpc, options)
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

  return {
    async heads(labels, signal): Promise<readonly (L1Ref | undefined)[]> {
      const ask = asking(`${labels.join(' and ')} block`, (endpoint, stop) => reads.labelled(endpoint, labels, stop))
      const refs = await failover.run('head', signal, ask)
      for (const ref of refs) highest = Math.max(highest, ref?.number ?? -1)
      return refs
    },
    async newerHead(above, signal): Promise<L1Ref | undefined> {
      if (failover.size < 2) return undefined
      const behind: Endpoint[] = []
      const ask = asking('latest block', async (endpoint, stop) => {
        const [ref] = await reads.labelled(endpoint, ['latest'], stop)
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
      return askFor('head', number, signal, (endpoint, stop) => reads.ref(endpoint, number, stop))
    },
    block: (at, signal) => askFor('block', at, signal, (endpoint, stop) => reads.block(endpoint, at, stop)),
    agree: (signal) =>
      failover.each(
        signal,
        asking('chain id', async () => {}),
      ),
  }
}

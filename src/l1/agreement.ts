import type { Endpoint } from '#lib/endpoint'
import { isFault } from '#lib/fault'
import { toQuantity } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { hashField, objectOf, ShapeError } from '#types/jsonShape'
import { l1Fault } from './faults.ts'
import type { Rpc, RpcCall } from './rpc.ts'

/** Identity of the rollup's L1, which every endpoint must serve. */
export type L1Identity = {
  readonly chainId: number
  /** L1 block on which the rollup begins; absent: only the chain id is compared */
  readonly genesis?: BlockId
}

/** Checks that an endpoint serves the rollup's L1. */
export interface Agreement {
  /**
   * Queries the endpoint until it has passed the check once. An endpoint that cannot return the block (pruned, still syncing) is judged by its chain
   * id alone.
   * @throws Fault L1_WRONG_CHAIN; those of `Rpc.call`
   */
  check(endpoint: Endpoint, signal: AbortSignal): Promise<void>
}

function requireChain(endpoint: Endpoint, expected: number, result: unknown): void {
  const found = typeof result === 'string' ? Number(result) : Number.NaN
  if (!Number.isSafeInteger(found)) throw new ShapeError('chain id is not a quantity')
  if (found === expected) return
  throw l1Fault('L1_WRONG_CHAIN', { endpoint: endpoint.name, what: 'chain id', expected: String(expected), found: String(found) })
}

function requireBlock(endpoint: Endpoint, { number, hash }: BlockId, result: unknown): void {
  if (result == null) return
  const found = hashField(objectOf(result, 'block'), 'hash')
  if (found === hash) return
  throw l1Fault('L1_WRONG_CHAIN', { endpoint: endpoint.name, what: `block ${number}`, expected: hash, found })
}

export function createAgreement(rpc: Rpc, { chainId, genesis }: L1Identity): Agreement {
  const right = new Set<Endpoint>()
  const chain: RpcCall = { method: 'eth_chainId', params: [] }

  async function answers(endpoint: Endpoint, signal: AbortSignal): Promise<readonly unknown[]> {
    if (genesis === undefined) return rpc.call(endpoint, [chain], signal)
    const block: RpcCall = { method: 'eth_getBlockByNumber', params: [toQuantity(genesis.number), false] }
    try {
      return await rpc.call(endpoint, [chain, block], signal)
    } catch (error) {
      if (!isFault(error, 'L1_RPC_ERROR')) throw error
      return rpc.call(endpoint, [chain], signal)
    }
  }

  return {
    async check(endpoint, signal): Promise<void> {
      if (right.has(endpoint)) return
      const [chainResult, blockResult] = await answers(endpoint, signal)
      requireChain(endpoint, chainId, chainResult)
      if (genesis) requireBlock(endpoint, genesis, blockResult)
      right.add(endpoint)
    },
  }
}

import type { Endpoint } from '#lib/endpoint'
import { toQuantity } from '#lib/hex'
import type { L1StateRef, L1Witness } from '#trust/ports'
import { objectOf, ShapeError } from '#types/jsonShape'
import type { Agreement } from './agreement.ts'
import { meansUnknownBlockFault } from './blockReads.ts'
import { l1Fault } from './faults.ts'
import type { Rpc, RpcCall } from './rpc.ts'
import { verifyHeader } from './verifyBlock.ts'

export type WitnessDeps = {
  /** JSON-RPC client with a limit of `maxProofBytes` */
  readonly rpc: Rpc
  readonly endpoints: readonly Endpoint[]
  readonly agreement: Agreement
}

/** Limit of a response: some 20 calls of at most 16 slots, each with a proof of 4 to 8 KB of hex. */
export const maxProofBytes = 8 * 1_048_576

/** Returns each endpoint as a witness of L1: asked alone, without failover. @see `L1Witness` */
export function createWitnesses({ rpc, endpoints, agreement }: WitnessDeps): readonly L1Witness[] {
  return endpoints.map((endpoint): L1Witness => {
    const { name } = endpoint
    const call = async (calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> => {
      await agreement.check(endpoint, signal)
      return rpc.call(endpoint, calls, signal)
    }

    async function read(at: number | 'finalized', signal: AbortSignal): Promise<L1StateRef | undefined> {
      const asked = typeof at === 'number' ? toQuantity(at) : at
      const [answer] = await call([{ method: 'eth_getBlockByNumber', params: [asked, false] }], signal)
      if (answer === null) return undefined
      const verdict = verifyHeader(objectOf(answer, 'block'))
      if (verdict.kind === 'mismatch') throw l1Fault('L1_BLOCK_MISMATCH', { endpoint: name, block: at, ...verdict })
      const { ref, header } = verdict.value
      if (typeof at === 'number' && ref.number !== at) throw new ShapeError(`it has the number ${ref.number}`)
      return { ...ref, stateRoot: header.stateRoot }
    }

    const block = (at: number | 'finalized', signal: AbortSignal): Promise<L1StateRef | undefined> =>
      read(at, signal).catch((error: unknown) => {
        if (meansUnknownBlockFault(error)) return undefined
        if (error instanceof ShapeError) throw l1Fault('L1_BAD_ANSWER', { endpoint: name, asked: `block ${at}`, reason: error.message })
        throw error
      })

    return {
      name,
      finalized: (signal) => block('finalized', signal),
      at: block,
      proofs: (number, requests, signal) =>
        call(
          requests.map(({ address, slots }): RpcCall => ({ method: 'eth_getProof', params: [address, slots, toQuantity(number)] })),
          signal,
        ),
      codes: (number, addresses, signal) =>
        addresses.length === 0
          ? Promise.resolve([])
          : call(
              addresses.map((address): RpcCall => ({ method: 'eth_getCode', params: [address, toQuantity(number)] })),
              signal,
            ),
    }
  })
}

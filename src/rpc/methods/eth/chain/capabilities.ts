import { toQuantity } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { Json } from '../../../json.ts'
import { object, refTo } from '../../../reference/schemas.ts'
import type { ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

/** Oldest blocks of each kind of data. */
type Capabilities = { readonly head: BlockId } & Pick<ChainView, 'oldestBlock' | 'oldestLogs' | 'oldestState' | 'oldestProof'>

const offer = object('availability', { disabled: { type: 'boolean' }, oldestBlock: refTo('Quantity') })

const capabilitiesResult: ResultCodec<Capabilities> = {
  doc: 'head; for state, tx, logs, receipts, blocks and stateproofs whether they are available, and the oldest block',
  schema: object('capabilities', {
    head: object('block', { number: refTo('Quantity'), hash: refTo('Hash') }),
    ...Object.fromEntries(['state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs'].map((kind) => [kind, offer])),
  }),
  encode({ head, oldestBlock, oldestLogs, oldestState, oldestProof }): Json {
    const [blocks, logs, state, proofs] = [oldestBlock, oldestLogs, oldestState, oldestProof].map((number) => ({
      disabled: false,
      oldestBlock: toQuantity(number),
    }))
    return {
      head: { number: toQuantity(head.number), hash: head.hash },
      ...{ state, tx: blocks, logs, receipts: blocks, blocks, stateproofs: proofs },
    }
  },
}

/** @see execution-apis, eth_capabilities */
export const capabilities = ethMethod({
  name: 'eth_capabilities',
  doc: 'Kinds of data that the node has, and the oldest block of each.',
  params: [],
  result: capabilitiesResult,
  cost: 'point-read',
  example: { params: [] },
  run({ chain, forks }): Capabilities {
    using view = chain.view()
    const from = (oldest: number): number => Math.max(forks.genesis.l2.number, oldest)
    const { oldestBlock, oldestLogs, oldestState, oldestProof } = view
    return { head: view.heads.latest, oldestBlock: from(oldestBlock), oldestLogs: from(oldestLogs), oldestState, oldestProof }
  },
})

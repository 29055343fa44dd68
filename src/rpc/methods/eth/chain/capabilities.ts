import { toQuantity } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import type { Json } from '../../../json.ts'
import type { ResultCodec } from '../../../registry.ts'
import { object, refTo } from '../../../schemas.ts'
import { ethMethod } from '../../define.ts'

/** From which block on each kind of question is answered. */
type Capabilities = { readonly head: BlockId; readonly oldestBlock: number; readonly oldestState: number }

const offer = object('what is offered', { disabled: { type: 'boolean' }, oldestBlock: refTo('Quantity') })

const capabilitiesResult: ResultCodec<Capabilities> = {
  doc: 'head, and for state, tx, logs, receipts, blocks and stateproofs whether they are offered and from which block on',
  schema: object('capabilities', {
    head: object('block', { number: refTo('Quantity'), hash: refTo('Hash') }),
    ...Object.fromEntries(['state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs'].map((kind) => [kind, offer])),
  }),
  encode({ head, oldestBlock, oldestState }): Json {
    const [blocks, states] = [oldestBlock, oldestState].map((number) => ({ disabled: false, oldestBlock: toQuantity(number) }))
    return {
      head: { number: toQuantity(head.number), hash: head.hash },
      ...{ state: states, tx: blocks, logs: blocks, receipts: blocks, blocks, stateproofs: states },
    }
  },
}

/** @see execution-apis, eth_capabilities */
export const capabilities = ethMethod({
  name: 'eth_capabilities',
  doc: 'What the node can answer about which blocks.',
  params: [],
  result: capabilitiesResult,
  cost: 'point-read',
  example: { params: [] },
  run({ chain, forks }): Capabilities {
    using view = chain.view()
    return { head: view.heads.latest, oldestBlock: forks.genesis.l2.number, oldestState: view.oldestState }
  },
})

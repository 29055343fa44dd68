import { bytes, flag, gasQuantity, quantity } from '../../codecs/values.ts'
import { param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { poolOf } from '../txpool/poolOf.ts'

/** Zero lifts a limit; one above any block's data is as good as none. */
const bytesOrNone = (limit: bigint): number | undefined => (limit === 0n || limit > 2n ** 32n ? undefined : Number(limit))

export const setMaxDASize = ethMethod({
  name: 'miner_setMaxDASize',
  doc: "How much of L1's data room, as estimated compressed bytes, one transaction of the pool and a whole block may take from now on; 0: no limit. Batchers call it on the sequencer.",
  params: [param('maxTransactionSize', quantity), param('maxBlockSize', quantity)],
  result: flag,
  cost: 'point-read',
  example: { params: ['0x4e20', '0x1fbd0'], result: true },
  async run(context, transaction, block): Promise<boolean> {
    await poolOf(context).limitBlocks({ maxTransactionBytes: bytesOrNone(transaction), maxBlockBytes: bytesOrNone(block) })
    return true
  },
})

export const setGasLimit = ethMethod({
  name: 'miner_setGasLimit',
  doc: 'How much gas a block that is built here may use from now on, below what L1 says; 0: no limit. What is forced into a block counts, and is in it nevertheless.',
  params: [param('gasLimit', gasQuantity)],
  result: flag,
  cost: 'point-read',
  example: { params: ['0x1c9c380'], result: true },
  async run(context, gas): Promise<boolean> {
    await poolOf(context).limitBlocks({ maxBlockGas: gas === 0n ? undefined : gas })
    return true
  },
})

export const setExtra = ethMethod({
  name: 'miner_setExtra',
  doc: "Nothing: the extra data of a block is the protocol's. Always false, as on Base's client.",
  params: [param('extra', bytes)],
  result: flag,
  cost: 'instant',
  example: { params: ['0x'], result: false },
  run: () => false,
})

export const setGasPrice = ethMethod({
  name: 'miner_setGasPrice',
  doc: "Nothing: the least tip is not changed while the node runs. Always false, as on Base's client.",
  params: [param('gasPrice', quantity)],
  result: flag,
  cost: 'instant',
  example: { params: ['0xf4240'], result: false },
  run: () => false,
})

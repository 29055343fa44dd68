import { bytes, flag, gasQuantity, quantity } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { type Method, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { poolOf } from '../txpool/poolOf.ts'

/** Limit in bytes; undefined for no limit: zero, or a value above any block's data. */
const bytesOrNone = (limit: bigint): number | undefined => (limit === 0n || limit > 2n ** 32n ? undefined : Number(limit))

const setMaxDASize = ethMethod({
  name: 'miner_setMaxDASize',
  doc: 'Limits the estimated compressed size, in bytes, of each pool transaction and of all transactions of a block that this node builds; 0: no limit. Batchers call it on the sequencer to limit L1 data.',
  params: [param('maxTransactionSize', quantity), param('maxBlockSize', quantity)],
  result: flag,
  cost: 'point-read',
  example: { params: ['0x4e20', '0x1fbd0'], result: true },
  async run(context, transaction, block): Promise<boolean> {
    await poolOf(context).limitBlocks({ maxTransactionBytes: bytesOrNone(transaction), maxBlockBytes: bytesOrNone(block) })
    return true
  },
})

const setGasLimit = ethMethod({
  name: 'miner_setGasLimit',
  doc: 'Limits the gas of blocks that this node builds, below the gas limit set on L1; 0: no limit. Forced transactions count, and are always included.',
  params: [param('gasLimit', gasQuantity)],
  result: flag,
  cost: 'point-read',
  example: { params: ['0x1c9c380'], result: true },
  async run(context, gas): Promise<boolean> {
    await poolOf(context).limitBlocks({ maxBlockGas: gas === 0n ? undefined : gas })
    return true
  },
})

const setExtra = ethMethod({
  name: 'miner_setExtra',
  doc: "No effect: the protocol sets the extra data of a block. Always returns false, like Base's client.",
  params: [param('extra', bytes)],
  result: flag,
  cost: 'instant',
  example: { params: ['0x'], result: false },
  run: () => false,
})

const setGasPrice = ethMethod({
  name: 'miner_setGasPrice',
  doc: "No effect: the minimum priority fee cannot change while the node runs. Always returns false, like Base's client.",
  params: [param('gasPrice', quantity)],
  result: flag,
  cost: 'instant',
  example: { params: ['0xf4240'], result: false },
  run: () => false,
})

/** `miner_*`: limits of the blocks that this node builds. */
export const minerMethods: readonly Method<EthContext>[] = [setMaxDASize, setGasLimit, setExtra, setGasPrice]

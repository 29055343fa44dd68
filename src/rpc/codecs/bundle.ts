import type { Bundle } from '../meterPorts.ts'
import type { ParamCodec } from '../registry.ts'
import { member, objectOf, required } from './members.ts'
import { ParamError } from './paramError.ts'
import { bytes, gasQuantity, hash, listOf, position, text } from './values.ts'

const maxTransactions = 1_000
const transactions = listOf(bytes, maxTransactions)
const hashes = listOf(hash, maxTransactions)

/** Members that are validated and have no effect on metering: inclusion conditions, and transactions that may fail. */
const passedOver: Readonly<Record<string, ParamCodec<unknown>>> = {
  blockNumber: gasQuantity,
  flashblockNumberMin: gasQuantity,
  flashblockNumberMax: gasQuantity,
  maxTimestamp: gasQuantity,
  revertingTxHashes: hashes,
  droppingTxHashes: hashes,
  replacementUuid: text,
}

export const bundle: ParamCodec<Bundle> = {
  doc: '{txs, blockNumber, minTimestamp (default: one block time after the head)}, and the other members of a bundle',
  schema: { type: 'object', required: ['txs', 'blockNumber'] },
  parse(value): Bundle {
    const given = objectOf(value, 'a bundle')
    for (const key of ['txs', 'blockNumber']) if ((given[key] ?? null) === null) throw new ParamError(`missing field \`${key}\``)
    for (const [key, codec] of Object.entries(passedOver)) member(given, key, codec)
    return { transactions: required(given, 'txs', transactions), timestamp: member(given, 'minTimestamp', position) }
  },
}

import { isJsonObject } from '../json.ts'
import type { Bundle } from '../meterPorts.ts'
import { ParamError, within } from '../paramError.ts'
import type { ParamCodec } from '../registry.ts'
import { blockNumber, bytes, gasQuantity, hash, listOf, text, wrongType } from './values.ts'

const maxTransactions = 1_000
const transactions = listOf(bytes, maxTransactions)
const hashes = listOf(hash, maxTransactions)

/** Members that are validated and have no effect on metering: inclusion conditions, and transactions that may fail. */
const passedOver: Readonly<Record<string, ParamCodec<unknown>>> = {
  flashblockNumberMin: gasQuantity,
  flashblockNumberMax: gasQuantity,
  maxTimestamp: gasQuantity,
  revertingTxHashes: hashes,
  droppingTxHashes: hashes,
  replacementUuid: text,
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

export const bundle: ParamCodec<Bundle> = {
  doc: '{txs, blockNumber, minTimestamp (default: one block time after the head)}, and the other members of a bundle',
  schema: { type: 'object', required: ['txs', 'blockNumber'] },
  parse(value): Bundle {
    if (!isJsonObject(value)) throw wrongType(value, 'a bundle')
    const { txs, blockNumber: number, minTimestamp } = value
    if (!isThere(txs)) throw new ParamError('missing field `txs`')
    if (!isThere(number)) throw new ParamError('missing field `blockNumber`')
    within('blockNumber', () => gasQuantity.parse(number))
    for (const [key, codec] of Object.entries(passedOver)) if (isThere(value[key])) within(key, () => codec.parse(value[key]))
    return {
      transactions: within('txs', () => transactions.parse(txs)),
      timestamp: isThere(minTimestamp) ? within('minTimestamp', () => blockNumber(minTimestamp)) : undefined,
    }
  },
}

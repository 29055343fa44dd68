import type { Hash } from '#types/ids'
import type { BlockOverrides } from '../callPorts.ts'
import type { JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { member, objectOf } from './members.ts'
import { ParamError, within } from './paramError.ts'
import { address, gasQuantity, hash, quantity } from './values.ts'

/** Range of BLOCKHASH. */
const maxBlockHashes = 256

const safeQuantity: ParamCodec<number> = {
  doc: 'quantity of at most 53 bits',
  parse(value): number {
    const parsed = quantity.parse(value)
    if (parsed > BigInt(Number.MAX_SAFE_INTEGER)) throw new ParamError('number too large to fit in target type')
    return Number(parsed)
  },
}

/** Value of the first member present among several names, because clients use different ones. */
function firstMember<T>(object: JsonObject, names: readonly string[], codec: ParamCodec<T>): T | undefined {
  for (const name of names) {
    const value = member(object, name, codec)
    if (value !== undefined) return value
  }
  return undefined
}

const blockHashes: ParamCodec<ReadonlyMap<number, Hash>> = {
  doc: `{number: hash}, at most ${maxBlockHashes}`,
  parse(value): ReadonlyMap<number, Hash> {
    const entries = Object.entries(objectOf(value, 'an object of block hashes'))
    if (entries.length > maxBlockHashes) throw new ParamError(`more than ${maxBlockHashes} block hashes`, 'senseless')
    const numberOf = (key: string): number => safeQuantity.parse(/^[0-9]+$/.test(key) ? Number(key) : key)
    return new Map(entries.map(([key, of]) => within(key, (): [number, Hash] => [numberOf(key), hash.parse(of)])))
  },
}

export const blockOverrides: ParamCodec<BlockOverrides> = {
  doc: '{number, time, gasLimit, feeRecipient (or coinbase), prevRandao (or random), baseFeePerGas (or baseFee), blobBaseFee, blockHash: {number: hash}}',
  schema: { title: 'overrides of the environment', type: 'object' },
  parse(given): BlockOverrides {
    const value = objectOf(given, 'an object of block overrides')
    return {
      number: member(value, 'number', safeQuantity),
      timestamp: member(value, 'time', safeQuantity),
      gasLimit: member(value, 'gasLimit', gasQuantity),
      beneficiary: firstMember(value, ['feeRecipient', 'coinbase'], address),
      prevRandao: firstMember(value, ['prevRandao', 'random'], hash),
      baseFee: firstMember(value, ['baseFeePerGas', 'baseFee'], quantity),
      blobBaseFee: member(value, 'blobBaseFee', quantity),
      blockHashes: member(value, 'blockHash', blockHashes),
    }
  },
}

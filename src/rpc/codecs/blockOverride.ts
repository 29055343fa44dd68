import type { Hash } from '#types/ids'
import type { BlockOverrides } from '../callPorts.ts'
import type { ParamCodec } from '../registry.ts'
import { firstMember, member, objectOf, refuseOthers } from './members.ts'
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

const blockHashes: ParamCodec<ReadonlyMap<number, Hash>> = {
  doc: `{number: hash}, at most ${maxBlockHashes}`,
  parse(value): ReadonlyMap<number, Hash> {
    const entries = Object.entries(objectOf(value, 'an object of block hashes'))
    if (entries.length > maxBlockHashes) throw new ParamError(`more than ${maxBlockHashes} block hashes`, 'senseless')
    const numberOf = (key: string): number => safeQuantity.parse(/^[0-9]+$/.test(key) ? Number(key) : key)
    return new Map(entries.map(([key, of]) => within(key, (): [number, Hash] => [numberOf(key), hash.parse(of)])))
  },
}

const names = {
  number: ['number', 'blockNumber'],
  timestamp: ['time', 'timestamp'],
  beneficiary: ['feeRecipient', 'coinbase'],
  prevRandao: ['prevRandao', 'random'],
  baseFee: ['baseFeePerGas', 'baseFee'],
} as const
/** `difficulty` has no effect. */
const known = [...Object.values(names).flat(), 'gasLimit', 'blobBaseFee', 'blockHash', 'difficulty']

export const blockOverrides: ParamCodec<BlockOverrides> = {
  doc: '{number (or blockNumber), time (or timestamp), gasLimit, feeRecipient (or coinbase), prevRandao (or random), baseFeePerGas (or baseFee), blobBaseFee, blockHash: {number: hash}}; other members are refused',
  schema: { title: 'overrides of the environment', type: 'object' },
  parse(given): BlockOverrides {
    const value = objectOf(given, 'an object of block overrides')
    refuseOthers(value, known)
    return {
      number: firstMember(value, names.number, safeQuantity),
      timestamp: firstMember(value, names.timestamp, safeQuantity),
      gasLimit: member(value, 'gasLimit', gasQuantity),
      beneficiary: firstMember(value, names.beneficiary, address),
      prevRandao: firstMember(value, names.prevRandao, hash),
      baseFee: firstMember(value, names.baseFee, quantity),
      blobBaseFee: member(value, 'blobBaseFee', quantity),
      blockHashes: member(value, 'blockHash', blockHashes),
    }
  },
}

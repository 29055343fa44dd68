import { toQuantity } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { CallPlace } from '../callPorts.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { refTo } from '../reference/schemas.ts'
import type { ParamCodec } from '../registry.ts'
import { noticedAt, ParamError, within } from './paramError.ts'
import { blockNumber, flag, hash, wrongType } from './values.ts'

const tags = ['latest', 'earliest', 'pending', 'safe', 'finalized'] as const
export type BlockTag = (typeof tags)[number]

export type BlockParam =
  | { readonly kind: 'tag'; readonly tag: BlockTag }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'hash'; readonly hash: Hash; readonly mustBeCanonical: boolean }
  /** a block that the node has found already; no client can send this */
  | { readonly kind: 'found'; readonly block: CallPlace }

export const latest: BlockParam = { kind: 'tag', tag: 'latest' }

/** The parameter as it appears in error texts. */
export function describeBlock(block: BlockParam): string {
  if (block.kind === 'tag') return block.tag
  if (block.kind === 'number') return toQuantity(block.number)
  if (block.kind === 'found') return `block ${block.block.number}`
  return `${block.mustBeCanonical ? 'canonical hash' : 'hash'} ${block.hash}`
}

function parseNumberOrTag(value: unknown): BlockParam {
  const tag = tags.find((each) => each === value)
  if (tag !== undefined) return { kind: 'tag', tag }
  return { kind: 'number', number: blockNumber(value) }
}

/** Codec of a block number or tag. Errors report no position. */
export const blockNumberOrTag: ParamCodec<BlockParam> = {
  doc: 'block number or tag (latest, earliest, pending, safe, finalized)',
  schema: refTo('BlockNumberOrTag'),
  parse: (value) => noticedAt('nowhere', () => parseNumberOrTag(value)),
}

/** Parses an EIP-1898 object. */
function parseObject(value: JsonObject): BlockParam {
  const known = ['blockHash', 'blockNumber', 'requireCanonical']
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    throw new ParamError(`unknown field \`${unknown}\`, expected one of \`blockNumber\`, \`blockHash\`, \`requireCanonical\``)
  }
  const { blockHash, blockNumber: number, requireCanonical } = value
  if ((blockHash === undefined) === (number === undefined)) throw new ParamError('exactly one of blockHash and blockNumber is needed')
  if (number !== undefined) return within('blockNumber', () => parseNumberOrTag(number))
  return {
    kind: 'hash',
    hash: within('blockHash', () => hash.parse(blockHash)),
    mustBeCanonical: requireCanonical !== undefined && within('requireCanonical', () => flag.parse(requireCanonical)),
  }
}

export const blockId: ParamCodec<BlockParam> = {
  doc: 'block number, tag (latest, earliest, pending, safe, finalized), hash, or {blockNumber} or {blockHash, requireCanonical} (EIP-1898)',
  schema: refTo('BlockId'),
  parse(value): BlockParam {
    if (isJsonObject(value)) return parseObject(value)
    if (typeof value !== 'string') throw wrongType(value, 'a block number, tag, hash, or an object with one of them')
    if (value.length === 66) return { kind: 'hash', hash: hash.parse(value), mustBeCanonical: false }
    return parseNumberOrTag(value)
  },
}

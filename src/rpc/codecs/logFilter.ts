import type { Address, Hash } from '#types/ids'
import type { JsonObject } from '../json.ts'
import { refTo } from '../reference/schemas.ts'
import type { ParamCodec } from '../registry.ts'
import { type BlockParam, blockNumberOrTag, latest } from './blockId.ts'
import { member, objectOf } from './members.ts'
import { noticedAt, ParamError, within } from './paramError.ts'
import { address, hash, wrongType } from './values.ts'

/** A log query: its range, addresses and topics. Empty lists match everything. */
export type LogFilter = {
  readonly range:
    | { readonly kind: 'block'; readonly hash: Hash }
    | { readonly kind: 'blocks'; readonly from: BlockParam; readonly to: BlockParam }
  readonly addresses: readonly Address[]
  /** one list of alternatives for each topic position */
  readonly topics: readonly (readonly Hash[])[]
}

const maxAddresses = 1_000
const maxTopics = 1_000

/** Parses null, one value, or a list of alternatives. A list with null matches everything. */
function parseAlternatives<T>(value: unknown, codec: ParamCodec<T>, max: number): readonly T[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) return [codec.parse(value)]
  if (value.length > max) throw new ParamError(`at most ${max} alternatives allowed`, 'senseless')
  if (value.includes(null)) return []
  return value.map((each: unknown, index) => within(index, () => codec.parse(each)))
}

function parseTopics(value: unknown): readonly (readonly Hash[])[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence')
  if (value.length > 4) throw new ParamError('exceeds maximum topics, 4 allowed')
  return value.map((each: unknown, index) => within(index, () => parseAlternatives(each, hash, maxTopics)))
}

/** Default of `toBlock`: `pending` when the range starts there, because it is above `latest`. */
const defaultEnd = (from: BlockParam | undefined): BlockParam => (from?.kind === 'tag' && from.tag === 'pending' ? from : latest)

function parseRange(filter: JsonObject): LogFilter['range'] {
  const from = member(filter, 'fromBlock', blockNumberOrTag)
  const to = member(filter, 'toBlock', blockNumberOrTag)
  const block = member(filter, 'blockHash', hash)
  if (block === undefined) return { kind: 'blocks', from: from ?? latest, to: to ?? defaultEnd(from) }
  if (from !== undefined || to !== undefined)
    throw new ParamError('cannot specify both blockHash and fromBlock/toBlock, choose one or the other')
  return { kind: 'block', hash: block }
}

export const logFilter: ParamCodec<LogFilter> = {
  doc: '{fromBlock, toBlock} (default latest) or {blockHash}, address (one or a list), topics (per position null, one, or a list of alternatives)',
  schema: refTo('LogFilter'),
  parse(value): LogFilter {
    const filter = objectOf(value, 'a filter object')
    const { address: emitters, topics } = filter
    return noticedAt('parameter', () => ({
      range: parseRange(filter),
      addresses: within('address', () => parseAlternatives(emitters, address, maxAddresses)),
      topics: within('topics', () => parseTopics(topics)),
    }))
  },
}

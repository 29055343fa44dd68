import { address, anyJson, bytes, hash, position, word } from '../../codecs/values.ts'
import { blockNotFound, invalidInput, invalidParams } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { nullable, object, refTo } from '../../reference/schemas.ts'
import { type ParamCodec, param } from '../../registry.ts'
import type { StorageRange } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt, ofHash, prunedStateNow } from '../eth/atBlock.ts'
import { whenReady } from '../turns.ts'
import { tracingOf } from './tracing.ts'

/** Maximum number of slots per answer. */
const maxSlots = 1_024

const keyStart: ParamCodec<Uint8Array> = {
  ...bytes,
  doc: 'hashed key to start at, at most 32 bytes; shorter keys are padded with zeros on the right',
  parse(value): Uint8Array {
    const given = bytes.parse(value)
    if (given.length > 32) throw invalidParams('the key has more than 32 bytes')
    const key = new Uint8Array(32)
    key.set(given)
    return key
  },
}

const rangeSchema = object('range of slots', {
  storage: { type: 'object', additionalProperties: object('slot', { key: { type: 'null' }, value: refTo('Hash') }) },
  nextKey: nullable(refTo('Hash')),
})

function rangeJson({ slots, next }: StorageRange): Json {
  const entries = slots.map(({ key, value }) => [key, { key: null, value: word.encode(value) }])
  return { storage: Object.fromEntries(entries), nextKey: next ?? null }
}

export const storageRangeAt = ethMethod({
  name: 'debug_storageRangeAt',
  doc: `Storage of an account before a transaction of a block, by hashed key, at most ${maxSlots} slots. \`key\` is null: this node does not keep unhashed slot numbers.`,
  params: [
    param('blockHash', hash),
    param('index', position),
    param('address', address),
    param('keyStart', keyStart),
    param('maxResult', position),
  ],
  result: anyJson('{storage: {hashed key: {key, value}}, nextKey}', rangeSchema),
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, '0x0', '0x4200000000000000000000000000000000000015', '0x00', '0xa'] },
  run(context, of, index, account, start, max): Json | Promise<Json> {
    const block = blockIdAt(context, ofHash(of))
    if (block === undefined) throw blockNotFound(`hash ${of}`)
    const tracing = tracingOf(context, block)
    if (index > tracing.hashes.length) throw invalidInput(`transaction index ${index} out of range for block ${of}`)
    const read = (): Json => {
      const range = tracing.storage(index, account, start, Math.min(max, maxSlots))
      if (range === 'pruned') throw prunedStateNow(context)
      return rangeJson(range)
    }
    return whenReady(context.cancellation, () => tracing.prepare(index), read)
  },
})

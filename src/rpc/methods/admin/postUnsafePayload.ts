import type { Payload } from '#types/payload'
import { hash, noResult, wrongType } from '../../codecs/values.ts'
import { invalidInput } from '../../errors.ts'
import { isJsonObject } from '../../json.ts'
import { within } from '../../paramError.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { adminMethod } from '../define.ts'
import { payload } from '../engine/engineCodecs.ts'

/** Codec of a payload envelope in op-node's format. */
const envelope: ParamCodec<Payload> = {
  doc: 'executionPayload; from Ecotone on also parentBeaconBlockRoot',
  schema: { type: 'object', required: ['executionPayload'] },
  parse(value): Payload {
    if (!isJsonObject(value)) throw wrongType(value, 'an execution payload envelope')
    const { executionPayload, parentBeaconBlockRoot: root } = value
    const parsed = within('executionPayload', () => payload.parse(executionPayload))
    if (root === undefined || root === null) return parsed
    return { ...parsed, parentBeaconBlockRoot: within('parentBeaconBlockRoot', () => hash.parse(root)) }
  },
}

export const postUnsafePayload = adminMethod({
  name: 'admin_postUnsafePayload',
  doc: 'Executes a block that is not on L1 yet, and makes it the unsafe head.',
  params: [param('envelope', envelope)],
  result: noResult('null: the block is the unsafe head'),
  cost: 'execution',
  example: { params: [{ executionPayload: {}, parentBeaconBlockRoot: null }], result: null },
  async run(context, given): Promise<void> {
    const outcome = await context.admin.postUnsafePayload(given)
    if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  },
})

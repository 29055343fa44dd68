import type { Payload } from '#types/payload'
import { hash, wrongType } from '../../codecs/values.ts'
import { invalidInput } from '../../errors.ts'
import { isJsonObject } from '../../json.ts'
import { within } from '../../paramError.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { adminMethod } from '../define.ts'
import { payload } from '../engine/engineCodecs.ts'

/** A payload with what travels beside it, as op-node writes it. */
const envelope: ParamCodec<Payload> = {
  doc: 'executionPayload, and from Ecotone on parentBeaconBlockRoot',
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
  doc: 'Executes a block that L1 does not confirm yet and makes it the unsafe head.',
  params: [param('envelope', envelope)],
  result: { doc: 'null: it is the unsafe head', schema: { type: 'null' }, encode: () => null },
  cost: 'execution',
  example: { params: [{ executionPayload: {}, parentBeaconBlockRoot: null }], result: null },
  async run(context, given): Promise<void> {
    const outcome = await context.admin.postUnsafePayload(given)
    if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  },
})

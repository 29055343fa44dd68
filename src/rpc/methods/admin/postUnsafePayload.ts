import type { Payload } from '#types/payload'
import { member, objectOf, required } from '../../codecs/members.ts'
import { hash, noResult } from '../../codecs/values.ts'
import { invalidInput } from '../../errors.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { adminMethod } from '../define.ts'
import { payload } from '../engine/engineCodecs.ts'

/** Codec of a payload envelope in op-node's format. */
const envelope: ParamCodec<Payload> = {
  doc: 'executionPayload; from Ecotone on also parentBeaconBlockRoot',
  schema: { type: 'object', required: ['executionPayload'] },
  parse(value): Payload {
    const given = objectOf(value, 'an execution payload envelope')
    const parsed = required(given, 'executionPayload', payload)
    const root = member(given, 'parentBeaconBlockRoot', hash)
    return root === undefined ? parsed : { ...parsed, parentBeaconBlockRoot: root }
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

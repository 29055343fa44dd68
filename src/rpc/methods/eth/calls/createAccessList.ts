import { toQuantity } from '#lib/hex'
import type { ListedCall } from '../../../callPorts.ts'
import { blockId, latest } from '../../../codecs/blockId.ts'
import { blockOverrides } from '../../../codecs/blockOverride.ts'
import { callRequest } from '../../../codecs/callRequest.ts'
import { stateOverrides } from '../../../codecs/stateOverride.ts'
import { prunedHistory } from '../../../errors.ts'
import { optionalParam, param, type ResultCodec } from '../../../registry.ts'
import { refTo } from '../../../schemas.ts'
import { ethMethod } from '../../define.ts'
import { atCallPlace } from './callBasis.ts'
import { failureOf } from './callErrors.ts'
import { planCall } from './planCall.ts'

type Answer = ListedCall & { readonly error: string | undefined }

const accessListResult: ResultCodec<Answer> = {
  doc: '{accessList, gasUsed: with that list; of a message that fails without it, error: why it fails}',
  schema: {
    title: 'access list and the gas it goes with',
    type: 'object',
    required: ['accessList', 'gasUsed'],
    properties: { accessList: refTo('AccessList'), gasUsed: refTo('Quantity'), error: { type: 'string' } },
  },
  encode: ({ accessList, measured, error }) => ({
    accessList: accessList.map(({ address, slots }) => ({ address, storageKeys: slots })),
    gasUsed: toQuantity(measured.gasUsed),
    ...(error !== undefined && { error }),
  }),
}

export const createAccessList = ethMethod({
  name: 'eth_createAccessList',
  doc: 'The accounts and slots that a message reaches for on the state after a block, without those that are warm in any case, and the gas it uses when they are listed. A message that fails has a list too.',
  params: [
    param('transaction', callRequest),
    optionalParam('block', blockId, latest, 'latest'),
    optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
    optionalParam('blockOverrides', blockOverrides, undefined, 'none'),
  ],
  result: accessListResult,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'] },
  run(context, request, at, state, environment): Answer {
    const overrides = { state, block: environment }
    const { block, message } = atCallPlace(context, at, ({ block, basis }) => ({
      block,
      message: planCall(request, basis(request, overrides)),
    }))
    const listed = context.calls.list(block, message, context.executor.timer(), overrides)
    if (listed === undefined) throw prunedHistory()
    return { ...listed, error: failureOf(listed.measured.outcome, message) }
  },
})

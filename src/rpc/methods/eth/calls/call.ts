import { blockId, latest } from '../../../codecs/blockId.ts'
import { blockOverrides } from '../../../codecs/blockOverride.ts'
import { callRequest } from '../../../codecs/callRequest.ts'
import { stateOverrides } from '../../../codecs/stateOverride.ts'
import { bytes } from '../../../codecs/values.ts'
import { prunedHistory } from '../../../errors.ts'
import { optionalParam, param } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { atCallPlace } from './callBasis.ts'
import { outputOf } from './callErrors.ts'
import { planCall } from './planCall.ts'

export const call = ethMethod({
  name: 'eth_call',
  doc: 'Runs a message on the state after a block, in the environment of that block, without changing anything. A revert is error 3 with the revert data.',
  params: [
    param('transaction', callRequest),
    optionalParam('block', blockId, latest, 'latest'),
    optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
    optionalParam('blockOverrides', blockOverrides, undefined, 'none'),
  ],
  result: bytes,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'], result: '0x2a' },
  run(context, request, at, state, environment): Uint8Array {
    const overrides = { state, block: environment }
    const { block, message } = atCallPlace(context, at, ({ block, basis }) => ({
      block,
      message: planCall(request, basis(request, overrides)),
    }))
    const measured = context.executor.call(block, message, context.executor.timer(), overrides)
    if (measured === undefined) throw prunedHistory()
    return outputOf(measured.outcome, message)
  },
})

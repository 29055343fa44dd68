import { bytes } from '../../../codecs/values.ts'
import { ethMethod } from '../../define.ts'
import { prunedStateNow } from '../atBlock.ts'
import { messageParams, planAt } from './callBasis.ts'
import { outputOf } from './callErrors.ts'

export const call = ethMethod({
  name: 'eth_call',
  doc: 'Runs a message on the state after a block, in the environment of that block, without changing anything. At `pending` from Denim on, the environment is that of the next slot. A revert is error 3 with the revert data.',
  params: messageParams,
  result: bytes,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'], result: '0x2a' },
  run(context, request, at, state, environment): Uint8Array {
    const overrides = { state, block: environment }
    const { block, message } = planAt(context, request, at, overrides)
    const measured = context.executor.call(block, message, context.executor.timer(), overrides)
    if (measured === undefined) throw prunedStateNow(context)
    return outputOf(measured.outcome, message)
  },
})

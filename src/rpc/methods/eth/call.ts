import type { BlockId } from '#types/blockRef'
import { zeroAddress } from '#types/ids'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { type CallRequest, callRequest } from '../../codecs/callRequest.ts'
import { absent, bytes } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { prunedHistory, unsupported } from '../../errors.ts'
import type { CallMessage } from '../../ports.ts'
import { optionalParam, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { requireBlock } from './atBlock.ts'
import { outputOf } from './callErrors.ts'
import { planCall } from './planCall.ts'

function prepare(context: EthContext, request: CallRequest, at: BlockParam): { block: BlockId; message: CallMessage } {
  using view = context.chain.view()
  const block = requireBlock(view, at)
  const state = view.state(block)
  if (state === undefined) throw prunedHistory()
  const basis = {
    baseFee: view.header(block.hash)?.baseFeePerGas ?? 0n,
    balance: state.account(request.from ?? zeroAddress)?.balance ?? 0n,
    gasCap: context.limits.callGas,
    chainId: context.chainId,
  }
  return { block, message: planCall(request, basis) }
}

export const call = ethMethod({
  name: 'eth_call',
  doc: 'Runs a message on the state after a block, in the environment of that block, and changes nothing. A revert is error 3 with its data.',
  params: [
    param('transaction', callRequest),
    optionalParam('block', blockId, latest, 'latest'),
    optionalParam('stateOverrides', absent('state overrides', unsupported), undefined, 'none'),
    optionalParam('blockOverrides', absent('block overrides', unsupported), undefined, 'none'),
  ],
  result: bytes,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'], result: '0x2a' },
  run(context, request, at): Uint8Array {
    const { block, message } = prepare(context, request, at)
    const outcome = context.executor.call(block, message, context.executor.timer())
    if (outcome === undefined) throw prunedHistory()
    return outputOf(outcome, message)
  },
})

import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import { type Address, zeroAddress } from '#types/ids'
import type { CallMessage, CallOverrides, CallRequest } from '../../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../../codecs/blockId.ts'
import { blockOverrides } from '../../../codecs/blockOverride.ts'
import { callRequest } from '../../../codecs/callRequest.ts'
import { stateOverrides } from '../../../codecs/stateOverride.ts'
import type { EthContext } from '../../../context.ts'
import { prunedHistory } from '../../../errors.ts'
import { optionalParam, param } from '../../../registry.ts'
import { requireBlock } from '../atBlock.ts'
import { type CallBasis, planCall } from './planCall.ts'

/** Block that messages are planned on. Valid during `atCallPlace` only. */
export type CallContext = {
  readonly block: BlockId
  readonly header: Header
  /** Inputs of a request's plan. @param gasCap default: the maximum gas of a call */
  basis(request: CallRequest, overrides: CallOverrides, gasCap?: bigint): CallBasis
  /** Whether the account has code. */
  hasCode(address: Address, overrides: CallOverrides): boolean
}

/** Reads a block for calls. @throws RpcError −32001 when it does not exist, 4444 when its state is not retained */
export function atCallPlace<T>(context: EthContext, at: BlockParam, read: (place: CallContext) => T): T {
  using view = context.chain.view()
  const block = requireBlock(context, view, at)
  const state = view.state(block)
  const header = view.header(block.hash)
  if (state === undefined || header === undefined) throw prunedHistory()
  return read({
    block,
    header,
    basis({ from = zeroAddress }, overrides, gasCap = context.limits.callGas): CallBasis {
      return {
        baseFee: overrides.block?.baseFee ?? header.baseFeePerGas ?? 0n,
        balance: () => overrides.state?.get(from)?.balance ?? state.account(from)?.balance ?? 0n,
        gasCap,
        chainId: context.chainId,
      }
    },
    hasCode: (address, overrides) => (overrides.state?.get(address)?.code ?? state.code(address)).length > 0,
  })
}

/** Plans one message on a block. @throws RpcError like `atCallPlace` and `planCall` */
export function planAt(
  context: EthContext,
  request: CallRequest,
  at: BlockParam,
  overrides: CallOverrides,
): { readonly block: BlockId; readonly message: CallMessage } {
  return atCallPlace(context, at, ({ block, basis }) => ({ block, message: planCall(request, basis(request, overrides)) }))
}

/** Parameters of methods that run one message. */
export const messageParams = [
  param('transaction', callRequest),
  optionalParam('block', blockId, latest, 'latest'),
  optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
  optionalParam('blockOverrides', blockOverrides, undefined, 'none'),
] as const

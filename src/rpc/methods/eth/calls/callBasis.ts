import type { ChainView } from '#types/chainView'
import type { Header } from '#types/header'
import { type Address, zeroAddress } from '#types/ids'
import type { CallMessage, CallOverrides, CallPlace, CallRequest } from '../../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../../codecs/blockId.ts'
import { blockOverrides } from '../../../codecs/blockOverride.ts'
import { callRequest } from '../../../codecs/callRequest.ts'
import { stateOverrides } from '../../../codecs/stateOverride.ts'
import type { EthContext } from '../../../context.ts'
import { optionalParam, param } from '../../../registry.ts'
import { isDenimHead, prunedState, requireBlock } from '../atBlock.ts'
import { type CallBasis, planCall } from './planCall.ts'

/** Block or next slot that messages are planned on. Valid during `atCallPlace` only. */
export type PlannedPlace = {
  readonly block: CallPlace
  readonly header: Header
  /** Inputs of a request's plan. @param gasCap default: the maximum gas of a call */
  basis(request: CallRequest, overrides: CallOverrides, gasCap?: bigint): CallBasis
  /** Whether the account has code. */
  hasCode(address: Address, overrides: CallOverrides): boolean
}

/** Finds the block of a call. From Denim on, `pending` is the slot after the head: its time is known, and no flashblock announces more of it. */
function findPlace(context: EthContext, view: ChainView, at: BlockParam): CallPlace {
  if (at.kind === 'found') return at.block
  const block = requireBlock(context, view, at)
  const isPending = at.kind === 'tag' && at.tag === 'pending' && block.hash === view.heads.latest.hash
  return isPending && isDenimHead(context, view) ? { ...block, isNextSlot: true } : block
}

/** Returns the header of a place: of a block, or the known fields of the slot after it. */
function headerOf({ fees }: EthContext, view: ChainView, { hash, isNextSlot }: CallPlace): Header | undefined {
  const header = view.header(hash)
  const baseFeePerGas = header && isNextSlot ? fees.nextBaseFee(header) : undefined
  return header && baseFeePerGas !== undefined ? { ...header, baseFeePerGas } : header
}

/** Reads a block for calls. @throws RpcError −32001 when it does not exist, 4444 when its state is not retained */
export function atCallPlace<T>(context: EthContext, at: BlockParam, read: (place: PlannedPlace) => T): T {
  using view = context.chain.view()
  const block = findPlace(context, view, at)
  const state = view.state(block)
  const header = headerOf(context, view, block)
  if (state === undefined || header === undefined) throw prunedState(view)
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
): { readonly block: CallPlace; readonly message: CallMessage } {
  return atCallPlace(context, at, ({ block, basis }) => ({ block, message: planCall(request, basis(request, overrides)) }))
}

/** Parameters of methods that run one message. */
export const messageParams = [
  param('transaction', callRequest),
  optionalParam('block', blockId, latest, 'latest'),
  optionalParam('stateOverrides', stateOverrides, undefined, 'none'),
  optionalParam('blockOverrides', blockOverrides, undefined, 'none'),
] as const

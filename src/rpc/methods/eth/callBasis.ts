import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import { type Address, zeroAddress } from '#types/ids'
import type { AccountOverride, CallOverrides } from '../../callPorts.ts'
import type { BlockParam } from '../../codecs/blockId.ts'
import type { CallRequest } from '../../codecs/callRequest.ts'
import type { EthContext } from '../../context.ts'
import { prunedHistory } from '../../errors.ts'
import { requireBlock } from './atBlock.ts'
import type { CallBasis } from './planCall.ts'

/** A block that messages are asked at, as far as their plans depend on it. */
export type CallPlace = {
  readonly block: BlockId
  readonly header: Header
  /** of a message of the sender, with the gas cap of calls */
  readonly basis: CallBasis
  /** whether code runs when the account is called */
  hasCode(address: Address): boolean
}

/** Reads a block with its overrides counted in. `read` is called while the view is open. RpcError −32001 when there is none, 4444 without state. */
export function atCallPlace<T>(
  context: EthContext,
  request: CallRequest,
  at: BlockParam,
  overrides: CallOverrides,
  read: (place: CallPlace) => T,
): T {
  using view = context.chain.view()
  const block = requireBlock(view, at)
  const state = view.state(block)
  const header = view.header(block.hash)
  if (state === undefined || header === undefined) throw prunedHistory()
  const sender = request.from ?? zeroAddress
  const overridden = (address: Address): AccountOverride | undefined => overrides.state?.get(address)
  return read({
    block,
    header,
    basis: {
      baseFee: overrides.block?.baseFee ?? header.baseFeePerGas ?? 0n,
      balance: overridden(sender)?.balance ?? state.account(sender)?.balance ?? 0n,
      gasCap: context.limits.callGas,
      chainId: context.chainId,
    },
    hasCode: (address) => (overridden(address)?.code ?? state.code(address)).length > 0,
  })
}

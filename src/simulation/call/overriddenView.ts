import type { BlockEnv, StateView } from '#evm/ports'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { AccountOverride, BlockOverrides, StateOverrides } from '#rpc/callPorts'
import { accountsDiff, type SetAccount } from '#state/accountsDiff'
import { createLayer } from '#state/stateLayer'
import { viewAbove } from '#state/stateStack'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'

const isChanged = ({ nonce, balance, code, state, stateDiff }: AccountOverride): boolean =>
  [nonce, balance, code, state, stateDiff].some((part) => part !== undefined)

function accountAfter(view: StateView, address: Address, override: AccountOverride): SetAccount {
  const before = view.account(keccak256(fromHex(address)))
  const { nonce = before?.nonce ?? 0n, balance = before?.balance ?? 0n, state, stateDiff } = override
  const code = override.code ?? before?.codeHash ?? emptyCodeHash
  return { address, nonce, balance, code, storage: state ?? stateDiff ?? new Map(), wiped: state !== undefined }
}

/** Returns state overrides as a state diff; undefined when they change nothing. An account with an overridden field exists afterwards. */
export function overrideDiff(view: StateView, overrides: StateOverrides | undefined): StateDiff | undefined {
  const changed = [...(overrides ?? [])].filter(([, override]) => isChanged(override))
  return changed.length === 0 ? undefined : accountsDiff(changed.map(([address, override]) => accountAfter(view, address, override)))
}

/** Returns a state with overridden accounts and block hashes on top; the same state when nothing is overridden. */
export function overriddenView(view: StateView, accounts: StateOverrides | undefined, hashes?: ReadonlyMap<number, Hash>): StateView {
  const diff = overrideDiff(view, accounts)
  if (diff === undefined && (hashes === undefined || hashes.size === 0)) return view
  return viewAbove(view, [createLayer({ ...(diff && { diff }), hashes })])
}

/** Returns a block environment with overrides. */
export function overriddenEnv(env: BlockEnv, overrides: BlockOverrides): BlockEnv {
  return {
    chainId: env.chainId,
    number: overrides.number ?? env.number,
    timestamp: overrides.timestamp ?? env.timestamp,
    beneficiary: overrides.beneficiary ?? env.beneficiary,
    prevRandao: overrides.prevRandao ?? env.prevRandao,
    gasLimit: overrides.gasLimit ?? env.gasLimit,
    baseFee: overrides.baseFee ?? env.baseFee,
    blobBaseFee: overrides.blobBaseFee ?? env.blobBaseFee,
  }
}

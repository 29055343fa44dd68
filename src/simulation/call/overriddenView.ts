import type { BlockEnv, StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { AccountOverride, BlockOverrides, SlotValues, StateOverrides } from '#rpc/callPorts'
import { createLayer } from '#state/stateLayer'
import { viewAbove } from '#state/stateStack'
import { type Address, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'

type Entry = StateDiffParts['accounts'][number] & { readonly code: Uint8Array | undefined; readonly slots: SlotValues }

const isChanged = ({ nonce, balance, code, state, stateDiff }: AccountOverride): boolean =>
  [nonce, balance, code, state, stateDiff].some((part) => part !== undefined)

function entryOf(view: StateView, address: Address, override: AccountOverride): Entry {
  const key = keccak256(fromHex(address))
  const before = view.account(key)
  const { nonce = before?.nonce ?? 0n, balance = before?.balance ?? 0n, code, state, stateDiff } = override
  const codeHash = code === undefined ? (before?.codeHash ?? emptyCodeHash) : hashFromBytes(keccak256(code))
  const slots = state ?? stateDiff ?? new Map<Hash, bigint>()
  return { key, change: { nonce, balance, codeHash }, wiped: state !== undefined, code, slots }
}

const entriesOf = (view: StateView, overrides: StateOverrides): Entry[] =>
  Array.from(overrides).flatMap(([address, override]) => (isChanged(override) ? [entryOf(view, address, override)] : []))

function diffOf(entries: readonly Entry[]): StateDiff {
  const codes = new Map<Hash, Uint8Array>()
  for (const { code } of entries) if (code !== undefined && code.length > 0) codes.set(hashFromBytes(keccak256(code)), code)
  const slots = entries.flatMap(({ key, slots: own }) =>
    Array.from(own, ([slot, value]) => ({ addressKey: key, slotKey: keccak256(fromHex(slot)), value: bytesFromBigint(value, 32) })),
  )
  return createStateDiff({ accounts: entries, slots, codes: Array.from(codes, ([hash, code]) => ({ hash, code })) })
}

/** Returns state overrides as a state diff. An account with at least one overridden field exists afterwards. */
export function overrideDiff(view: StateView, overrides: StateOverrides): StateDiff {
  return diffOf(entriesOf(view, overrides))
}

/** Returns a state with overridden accounts and block hashes on top; the same state when nothing is overridden. */
export function overriddenView(view: StateView, accounts: StateOverrides | undefined, hashes?: ReadonlyMap<number, Hash>): StateView {
  const entries = accounts === undefined ? [] : entriesOf(view, accounts)
  if (entries.length === 0 && (hashes === undefined || hashes.size === 0)) return view
  return viewAbove(view, [createLayer({ ...(entries.length > 0 && { diff: diffOf(entries) }), hashes })])
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

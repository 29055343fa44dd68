import type { BlockEnv, StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { AccountOverride, BlockOverrides, SlotValues, StateOverrides } from '#rpc/callPorts'
import { noNodes } from '#state/stateRoot'
import { overlay } from '#state/stateStack'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes, parseHash } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'

/** Placeholder for the root of a non-empty storage without a trie. Callers only compare it with the empty root. */
const someStorage: Hash = parseHash(`0x${'5a'.repeat(32)}`)

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

/**
 * Returns a state with changes on top, for running messages. Its storage roots only show whether an account has storage. An account that has lost
 * its last slot still counts as having storage.
 */
export function viewAbove(view: StateView, diff: StateDiff): StateView {
  const storageRoots = new Map<string, Hash>()
  for (const { key, change, wiped } of diff.accounts()) {
    const before = change === null || wiped ? emptyRoot : (view.account(key)?.storageRoot ?? emptyRoot)
    if (before !== emptyRoot) storageRoots.set(toHex(key), before)
  }
  for (const { addressKey, value } of diff.slots()) {
    if (value.some((byte) => byte !== 0)) storageRoots.set(toHex(addressKey), someStorage)
  }
  return overlay({ view, nodes: noNodes }, diff, { nodes: [], storageRoots }).view
}

/** Returns a state with overrides on top, by `viewAbove`. */
export function overriddenView(view: StateView, overrides: StateOverrides): StateView {
  const entries = entriesOf(view, overrides)
  return entries.length === 0 ? view : viewAbove(view, diffOf(entries))
}

/** Returns a state whose block hashes are replaced for some numbers. */
export function withBlockHashes(view: StateView, hashes: ReadonlyMap<number, Hash> | undefined): StateView {
  if (hashes === undefined || hashes.size === 0) return view
  return {
    account: (addressKey) => view.account(addressKey),
    slot: (addressKey, slotKey) => view.slot(addressKey, slotKey),
    code: (codeHash) => view.code(codeHash),
    blockHash: (number) => hashes.get(number) ?? view.blockHash(number),
  }
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

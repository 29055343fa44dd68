import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type Address, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import type { AccountChange, StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'

/** An account to set, and some of its slots by number. */
export type SetAccount = Pick<AccountChange, 'nonce' | 'balance'> & {
  readonly address: Address
  /** a hash: the code is in the state below */
  readonly code: Uint8Array | Hash
  readonly storage: ReadonlyMap<Hash, bigint>
  /** whether all other slots become zero; absent: no */
  readonly wiped?: boolean
}

/** Returns the diff that sets accounts, each at most once. */
export function accountsDiff(accounts: readonly SetAccount[]): StateDiff {
  const slots: StateDiffParts['slots'][number][] = []
  const codes = new Map<Hash, Uint8Array>()
  const entries = accounts.map(({ address, nonce, balance, code, storage, wiped = false }) => {
    const key = keccak256(fromHex(address))
    const codeHash = typeof code === 'string' ? code : code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
    if (typeof code !== 'string' && code.length > 0) codes.set(codeHash, code)
    for (const [slot, value] of storage) {
      slots.push({ addressKey: key, slotKey: keccak256(fromHex(slot)), value: bytesFromBigint(value, 32) })
    }
    return { key, change: { nonce, balance, codeHash }, wiped }
  })
  return createStateDiff({ accounts: entries, slots, codes: Array.from(codes, ([hash, code]) => ({ hash, code })) })
}

import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import type { AccountState, Journal } from './journal.ts'
import { addressOf, wordBytes } from './words.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

/** Returns the change of an account; undefined when it equals the view's account and has not lost its slots. */
function changeOf(account: AccountState, wiped: boolean): AccountChange | null | undefined {
  const { before, exists, nonce, balance, codeHash } = account
  if (!exists) return before ? null : undefined
  const isSame = !wiped && before && before.nonce === nonce && before.balance === balance && before.codeHash === codeHash
  return isSame ? undefined : { nonce, balance, codeHash }
}

/** Returns whether slots of the view, or the account itself, are removed. */
const losesSlots = ({ isWiped, exists, before }: AccountState): boolean =>
  isWiped && before !== undefined && (!exists || before.storageRoot !== emptyRoot)

function addSlots(parts: Writable<StateDiffParts>, account: AccountState): void {
  for (const { key, before, value } of account.slots.values()) {
    if (value !== before) parts.slots.push({ addressKey: account.key, slotKey: key, value: wordBytes(value), before: wordBytes(before) })
  }
}

/** Returns the accounts of the diff and those with slots in it. */
export function changedIn(journal: Journal): readonly Address[] {
  const changed: Address[] = []
  for (const account of journal.accounts()) {
    const hasSlots = [...account.slots.values()].some(({ before, value }) => value !== before)
    if (hasSlots || changeOf(account, losesSlots(account)) !== undefined) changed.push(addressOf(account.address))
  }
  return changed
}

/** Returns all differences from the view. Includes an account that lost its slots, even if its fields are unchanged. */
export function diffOf(journal: Journal): StateDiff {
  const parts: Writable<StateDiffParts> = { accounts: [], slots: [], codes: [] }
  const codes = new Map<Hash, Uint8Array>()
  for (const account of journal.accounts()) {
    const wiped = losesSlots(account)
    const { key, codeHash } = account
    const change = changeOf(account, wiped)
    if (change !== undefined) parts.accounts.push({ key, change, wiped })
    addSlots(parts, account)
    const isNewCode = change && codeHash !== emptyCodeHash && codeHash !== account.before?.codeHash
    const code = isNewCode ? journal.newCode(codeHash) : undefined
    if (code) codes.set(codeHash, code)
  }
  for (const [hash, code] of codes) parts.codes.push({ hash, code })
  return createStateDiff(parts)
}

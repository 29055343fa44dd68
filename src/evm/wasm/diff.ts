import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import {
  accountBalance,
  accountExistsFlag,
  accountFlags,
  accountNonce,
  accountWipedFlag,
  slotAccount,
  slotBefore,
  slotKey,
  slotValue,
} from '../assembly/layout.ts'
import type { World } from './world.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

/** Returns the change of an account; undefined when it equals the view's account and has not lost its slots. */
function changeOf(before: Account | undefined, now: AccountChange | undefined, wiped: boolean): AccountChange | null | undefined {
  if (!now) return before ? null : undefined
  const isSame = !wiped && before && before.nonce === now.nonce && before.balance === now.balance && before.codeHash === now.codeHash
  return isSame ? undefined : now
}

/** Returns an account's difference from the view; undefined when there is none. */
function accountChange(world: World, entry: number): StateDiffParts['accounts'][number] | undefined {
  const { memory } = world.instance
  const flags = memory.number(entry + accountFlags)
  const before = world.before(entry)
  const exists = (flags & accountExistsFlag) !== 0
  const wiped = (flags & accountWipedFlag) !== 0 && before !== undefined && (!exists || before.storageRoot !== emptyRoot)
  const now = exists
    ? {
        nonce: memory.u64[(entry + accountNonce) >>> 3] as bigint,
        balance: memory.word(entry + accountBalance),
        codeHash: world.codeHashOf(entry),
      }
    : undefined
  const change = changeOf(before, now, wiped)
  return change === undefined ? undefined : { key: world.keyOf(entry), change, wiped }
}

function addAccount(parts: Writable<StateDiffParts>, codes: Map<Hash, Uint8Array>, world: World, entry: number): void {
  const account = accountChange(world, entry)
  if (!account) return
  parts.accounts.push(account)
  const { change } = account
  if (!change || change.codeHash === emptyCodeHash || change.codeHash === world.before(entry)?.codeHash) return
  const code = world.newCodes.get(change.codeHash)
  if (code) codes.set(change.codeHash, code)
}

function addSlots(parts: Writable<StateDiffParts>, world: World): void {
  const { exports, memory } = world.instance
  for (let slot = exports.nextChangedSlot(0); slot !== 0; slot = exports.nextChangedSlot(slot)) {
    const addressKey = world.keyOf(memory.number(slot + slotAccount))
    const [value, before] = [memory.wordBytes(slot + slotValue), memory.wordBytes(slot + slotBefore)]
    parts.slots.push({ addressKey, slotKey: memory.bytes(slot + slotKey, 32), value, before })
  }
}

function* changedEntries({ instance: { exports } }: World): Iterable<number> {
  for (let entry = exports.nextChangedAccount(0); entry !== 0; entry = exports.nextChangedAccount(entry)) yield entry
}

/** Returns the accounts of the diff and those with slots in it. */
export function changedIn(world: World): readonly Address[] {
  const { exports, memory } = world.instance
  const changed = new Set<number>()
  for (const entry of changedEntries(world)) if (accountChange(world, entry)) changed.add(entry)
  for (let slot = exports.nextChangedSlot(0); slot !== 0; slot = exports.nextChangedSlot(slot)) {
    changed.add(memory.number(slot + slotAccount))
  }
  return Array.from(changed, (entry) => world.addressOf(entry))
}

/** Returns all differences from the view. Includes an account that lost its slots, even if its fields are unchanged. */
export function diffOf(world: World): StateDiff {
  const parts: Writable<StateDiffParts> = { accounts: [], slots: [], codes: [] }
  const codes = new Map<Hash, Uint8Array>()
  for (const entry of changedEntries(world)) addAccount(parts, codes, world, entry)
  addSlots(parts, world)
  for (const [hash, code] of codes) parts.codes.push({ hash, code })
  return createStateDiff(parts)
}

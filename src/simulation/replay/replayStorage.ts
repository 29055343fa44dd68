import type { ParentBlock } from '#block/execution/executeBlock'
import { bigintFromBytes, compareBytes } from '#lib/bytes'
import { decodeRlp, rlpBytes } from '#lib/rlp'
import type { StorageRange } from '#rpc/tracePorts'
import { leavesFrom } from '#trie/leavesFrom'
import { emptyRoot, hashFromBytes } from '#types/ids'
import type { SlotChanges } from './replayStates.ts'

type Slot = { readonly key: Uint8Array; readonly value: bigint }

/** Yields an account's slots in the state of the parent, from a hashed key on. */
function* stored({ state }: ParentBlock, addressKey: Uint8Array, start: Uint8Array): Generator<Slot> {
  const root = state.view.account(addressKey)?.storageRoot ?? emptyRoot
  for (const { key, value } of leavesFrom(state.nodes, addressKey, root, start)) {
    yield { key, value: bigintFromBytes(rlpBytes(decodeRlp(value), 'slot')) }
  }
}

/** Merges two lists that are sorted by key. For equal keys it yields the slot of the second list. */
function* merged(below: Iterable<Slot>, above: readonly Slot[]): Generator<Slot> {
  let next = 0
  for (const slot of below) {
    while (next < above.length && compareBytes((above[next] as Slot).key, slot.key) < 0) yield above[next++] as Slot
    const isSame = next < above.length && compareBytes((above[next] as Slot).key, slot.key) === 0
    yield isSame ? (above[next++] as Slot) : slot
  }
  yield* above.slice(next)
}

/**
 * Returns part of an account's storage at a point inside a block, by hashed key from `start` on.
 * @param changed changes that the block has made so far
 * @param max maximum number of slots
 */
export function storageFrom(
  parent: ParentBlock,
  changed: SlotChanges,
  addressKey: Uint8Array,
  start: Uint8Array,
  max: number,
): StorageRange {
  const written = changed.slots.map(({ key, value }) => ({ key, value: value === undefined ? 0n : bigintFromBytes(value) }))
  const above = written.filter(({ key }) => compareBytes(key, start) >= 0).sort((a, b) => compareBytes(a.key, b.key))
  const slots: StorageRange['slots'][number][] = []
  for (const { key, value } of merged(changed.wiped ? [] : stored(parent, addressKey, start), above)) {
    if (value === 0n) continue
    if (slots.length === max) return { slots, next: hashFromBytes(key) }
    slots.push({ key: hashFromBytes(key), value })
  }
  return { slots, next: undefined }
}

import { expect, it } from 'vitest'
import { emptyCodeHash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { NodeReadAhead } from './nodeReadAhead.ts'

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const slotOf = (account: number, slot: number) => ({ addressKey: key(account), slotKey: key(slot), value: key(1) })
const change = { nonce: 1n, balance: 0n, codeHash: emptyCodeHash }
const diff = createStateDiff({
  accounts: [{ key: key(9), change, wiped: false }],
  slots: [slotOf(2, 5), slotOf(1, 3), slotOf(1, 4)],
  codes: [],
})

it('state/nodeReadAhead: reads the nodes of a root ahead when the root before it has read the disk', () => {
  let faults = 0
  const readAhead = new NodeReadAhead(() => faults)
  const asked: [number | undefined, readonly number[]][] = []
  const nodes = {
    get: () => undefined,
    prefetch: (owner: Uint8Array | undefined, keys: readonly Uint8Array[]) =>
      void asked.push([owner?.[0], keys.map(([first]) => first ?? 0)]),
  }
  const rootWith = (diskReads: number): typeof asked => {
    readAhead.begin(nodes, diff)
    faults += diskReads
    readAhead.ended()
    return asked.splice(0)
  }
  expect(rootWith(31)).toEqual([])
  expect(rootWith(32)).toEqual([])
  expect(rootWith(0)).toEqual([
    [undefined, [9]],
    [1, [3, 4]],
    [2, [5]],
  ])
  expect(rootWith(0)).toEqual([])
})

import { expect, it } from 'vitest'
import type { Heads } from '#engine/port'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { planInsert } from './insert.ts'

const hashOf = (branch: 'a' | 'b', number: number): Hash => `0x${branch}${number.toString(16).padStart(63, '0')}` as Hash
const payloadAt = (branch: 'a' | 'b', blockNumber: number): Payload =>
  ({
    blockNumber,
    blockHash: hashOf(branch, blockNumber),
    parentHash: hashOf(blockNumber === 1 ? 'a' : branch, blockNumber - 1),
  }) as Payload

it('consensus/tasks/insert: returns to a known branch that forks an hour of 200 ms blocks below', async () => {
  const head = 18_000
  const engine = {
    payload: async (at: number | Hash): Promise<Payload> =>
      typeof at === 'number' ? payloadAt('a', at) : payloadAt(at[2] as 'a' | 'b', Number(`0x${at.slice(3)}`)),
  }
  const heads = { unsafe: { number: head, hash: hashOf('a', head) } } as Heads
  expect(await planInsert(engine, heads, 0, [payloadAt('b', head + 1)])).toEqual({ kind: 'insert', from: 0, fork: 0 })
})

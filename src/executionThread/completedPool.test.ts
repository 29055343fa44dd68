import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MissingState, type WantedState } from '#evm/ports'
import { testAddress } from '#test/harness/evm/sessions'
import { parseHash } from '#types/ids'
import type { PoolOutcome } from '#types/pooledTransaction'
import { completedPool } from './completedPool.ts'
import type { PoolCall } from './wire/protocol.ts'
import { answerPool, PoolClient, type ServedPool } from './wire/txPoolCalls.ts'

/** A pool that lacks the sender of each transaction at first, and a code too when the transaction is 2. */
function partialPool() {
  const known = new Set<string>()
  const added: number[] = []
  const hash = (of: number) => parseHash(`0x${String(of).padStart(64, '0')}`)
  const add = (raws: readonly Uint8Array[]): readonly PoolOutcome[] =>
    raws.map(([of = 0]) => {
      const address = testAddress(of)
      if (!known.has(`account ${of}`)) throw new MissingState({ kind: 'account', address, addressKey: Uint8Array.of(of) })
      if (of === 2 && !known.has('code 2')) throw new MissingState({ kind: 'code', codeHash: hash(2) })
      added.push(of)
      return { kind: 'added', hash: hash(of) }
    })
  const fetched: WantedState[] = []
  const complete = async (wanted: WantedState): Promise<void> => {
    fetched.push(wanted)
    known.add(wanted.kind === 'account' ? `account ${wanted.addressKey[0]}` : 'code 2')
  }
  return { pool: { add } as unknown as ServedPool['pool'], complete, known, added, fetched, hash }
}

it('executionThread/completedPool: fetches what the check of a transaction lacks, and adds each transaction once', async () => {
  const { pool, complete, added, fetched, hash } = partialPool()
  const outcomes = await completedPool(pool, complete).add([1, 2, 1].map((of) => Uint8Array.of(of)))
  expect(outcomes).toEqual([1, 2, 1].map((of) => ({ kind: 'added', hash: hash(of) })))
  expect(added.toSorted()).toEqual([1, 1, 2])
  expect(fetched.map(({ kind }) => kind)).toEqual(['account', 'account', 'code'])
})

it('executionThread/completedPool: a transaction fails with the fault of the sources, or with a part that never comes', async () => {
  const { pool, known } = partialPool()
  const failing = completedPool(pool, () => Promise.reject(new Error('no source has it')))
  expect(await failing.add([Uint8Array.of(1)])).toMatchObject([{ kind: 'failed', error: { message: 'no source has it' } }])
  expect(await completedPool(pool, async () => {}).add([Uint8Array.of(1)])).toMatchObject([
    { kind: 'failed', error: { message: 'the view lacks account' } },
  ])
  expect(known.size).toBe(0)
})

it('executionThread/completedPool: a transaction whose sender no source knows does not fail or delay another one of its message', async () => {
  const { pool, known, added, hash } = partialPool()
  known.add('account 3')
  const never = Promise.withResolvers<void>()
  const served = { pool: completedPool(pool, () => never.promise), limitBlocks: () => {} }
  const client = new PoolClient({ call: async (call: PoolCall) => await answerPool(served, call) } as never)
  const [unknown, other] = [client.add(Uint8Array.of(1)), client.add(Uint8Array.of(3))]
  const refused = expect(unknown).rejects.toThrow('no source has it')
  await setImmediate()
  await setImmediate()
  expect(added).toEqual([3])
  never.reject(new Error('no source has it'))
  await refused
  expect(await other).toEqual({ kind: 'added', hash: hash(3) })
})

import { expect, it } from 'vitest'
import { MissingState, type WantedState } from '#evm/ports'
import { testAddress } from '#test/harness/evm/sessions'
import { parseHash } from '#types/ids'
import type { PoolOutcome } from '#types/pooledTransaction'
import { completedPool } from './completedPool.ts'
import type { ServedPool } from './wire/txPoolCalls.ts'

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
  expect(added).toEqual([1, 2, 1])
  expect(fetched.map(({ kind }) => kind)).toEqual(['account', 'account', 'code'])
})

it('executionThread/completedPool: ends with the fault of the sources, and with a part that never comes', async () => {
  const { pool, known } = partialPool()
  const failing = completedPool(pool, () => Promise.reject(new Error('no source has it')))
  await expect(failing.add([Uint8Array.of(1)])).rejects.toThrow('no source has it')
  await expect(completedPool(pool, async () => {}).add([Uint8Array.of(1)])).rejects.toBeInstanceOf(MissingState)
  expect(known.size).toBe(0)
})

import { expect, it } from 'vitest'
import { shareBytes } from '#lib/packedBytes'
import type { FetchedState } from '#state/fetchedState'
import type { BlockToExecute, StateRequest } from '#state/stateSource'
import { type Hash, zeroHash } from '#types/ids'
import { WitnessesAhead, type WitnessesAheadDeps } from './witnessesAhead.ts'

const block = (number: number, branch = 'a') => {
  const hash = `0x${branch}${number}` as Hash
  return { number, hash, parentStateRoot: hash }
}
const request = (of: BlockToExecute, partOnly = false): StateRequest => ({
  at: { number: 0, hash: zeroHash, stateRoot: zeroHash },
  wanted: { kind: 'blockHash', number: 0 },
  block: of,
  partOnly,
})
const nothing = shareBytes([])
const part: FetchedState = { nodes: [], codes: [Uint8Array.of(1)] }

/** A source whose witnesses come when the test says so. Block 0 is executed. */
function ahead() {
  const coming = new Map<number, (isThere: boolean) => void>()
  const asked: number[] = []
  const stored: string[] = []
  const source: WitnessesAheadDeps['source'] = {
    fetch: async () => part,
    async witness({ number, parentStateRoot: stateRoot }) {
      asked.push(number)
      const isThere = await new Promise<boolean>((resolve) => coming.set(number, resolve))
      return isThere ? { stateRoot, nodes: nothing, codes: nothing } : undefined
    },
  }
  const enter = async ({ witness }: FetchedState): Promise<void> => {
    if (witness && witness !== 'stored') stored.push(witness.stateRoot)
  }
  const come = async (number: number, isThere = true): Promise<void> => {
    coming.get(number)?.(isThere)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  return { asked, stored, witnesses: new WitnessesAhead({ source, enter }, 0), come }
}

it('l2/witnessesAhead: three witnesses are fetched at a time, and stored in the order of their blocks', async () => {
  const { asked, stored, witnesses, come } = ahead()
  for (const number of [1, 2, 3, 4, 5]) witnesses.expect(block(number))
  expect(asked).toEqual([1, 2, 3])
  await come(3)
  await come(2)
  expect(stored).toEqual([])
  await come(1)
  expect([asked, stored]).toEqual([
    [1, 2, 3, 4, 5],
    ['0xa1', '0xa2', '0xa3'],
  ])
})

it('l2/witnessesAhead: blocks that come early do not keep lower ones waiting', async () => {
  const { asked, witnesses } = ahead()
  for (const number of [33, 34, 35, 36, 1, 2]) witnesses.expect(block(number))
  expect(asked).toEqual([1, 2])
  witnesses.executed(30)
  expect(asked).toEqual([1, 2, 33])
})

it('l2/witnessesAhead: without its own witness a block is executed before later witnesses are stored', async () => {
  const { stored, witnesses, come } = ahead()
  for (const number of [1, 2, 3]) witnesses.expect(block(number))
  await come(3)
  await come(2)
  await come(1, false)
  expect(stored).toEqual([])
  witnesses.executed(1)
  await come(1)
  expect(stored).toEqual(['0xa2', '0xa3'])
})

it('l2/witnessesAhead: a block waits for its witness, and then asks the source for what it still lacks', async () => {
  const { witnesses, come, stored } = ahead()
  witnesses.expect(block(1))
  const waits = witnesses.fetch(request(block(1)))
  await come(1)
  expect([await waits, stored]).toEqual([{ nodes: [], codes: [], witness: 'stored' }, ['0xa1']])
  expect(await witnesses.fetch(request(block(1), true))).toBe(part)
})

it('l2/witnessesAhead: the source is asked when a witness does not come, and for a block of another branch', async () => {
  const { witnesses, come } = ahead()
  witnesses.expect(block(1))
  expect(await witnesses.fetch(request(block(1, 'b')))).toBe(part)
  const waits = witnesses.fetch(request(block(1)))
  await come(1, false)
  expect(await waits).toBe(part)
})

it('l2/witnessesAhead: says of each executed block whether it waited for its witness, or for other parts', async () => {
  const { witnesses, come } = ahead()
  for (const number of [1, 2, 3]) witnesses.expect(block(number))
  for (const number of [1, 2, 3]) await come(number)
  expect(witnesses.executed(1)).toBe('nothing')
  await witnesses.fetch(request(block(2)))
  expect(witnesses.executed(2)).toBe('witness')
  await witnesses.fetch(request(block(3)))
  await witnesses.fetch(request(block(3), true))
  expect(witnesses.executed(3)).toBe('parts')
})

it('l2/witnessesAhead: keeps a bounded number of announced blocks, and none that was executed', async () => {
  const { asked, witnesses, come } = ahead()
  for (let number = 1; number <= 2_000; number++) witnesses.expect(block(number))
  witnesses.executed(514)
  for (const number of [1, 2, 3]) await come(number)
  expect(asked).toEqual([1, 2, 3, 515])
})

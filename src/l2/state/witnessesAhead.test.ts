import { expect, it } from 'vitest'
import type { Hash } from '#types/ids'
import { WitnessesAhead } from './witnessesAhead.ts'

const block = (number: number, branch = 'a') => {
  const hash = `0x${branch}${number}` as Hash
  return { number, hash, parentStateRoot: hash }
}

function ahead() {
  const fetched: number[] = []
  const witnesses = new WitnessesAhead(async ({ number }) => {
    fetched.push(number)
    return `witness of ${number}`
  })
  return { fetched, witnesses }
}

it('l2/witnessesAhead: fetches three announced blocks ahead, and the next ones as blocks are executed', async () => {
  const { fetched, witnesses } = ahead()
  for (let number = 1; number <= 8; number++) witnesses.expect(block(number))
  expect(fetched).toEqual([1, 2, 3])
  expect(await witnesses.take(block(1))).toBe('witness of 1')
  expect(fetched).toEqual([1, 2, 3, 4])
  // blocks 2 to 4 lacked nothing
  expect(await witnesses.take(block(5))).toBeUndefined()
  expect(fetched).toEqual([1, 2, 3, 4, 6, 7, 8])
  expect(await witnesses.take(block(6))).toBe('witness of 6')
})

it('l2/witnessesAhead: has nothing for a block of another branch, and fetches an announced block once', async () => {
  const { fetched, witnesses } = ahead()
  witnesses.expect(block(3))
  witnesses.expect(block(3))
  expect(await witnesses.take(block(3, 'b'))).toBeUndefined()
  expect(fetched).toEqual([3])
  witnesses.expect(block(3))
  expect(await witnesses.take(block(3))).toBe('witness of 3')
})

it('l2/witnessesAhead: keeps a bounded number of announced blocks', () => {
  const { fetched, witnesses } = ahead()
  for (let number = 1; number <= 1_000; number++) witnesses.expect(block(number))
  for (let number = 1; number <= 1_000; number++) void witnesses.take(block(number))
  expect(fetched).toHaveLength(131)
})

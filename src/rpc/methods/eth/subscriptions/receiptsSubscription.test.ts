import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { BlockCache } from '../../../cache/blockCache.ts'
import { receiptsSubscription } from './receiptsSubscription.ts'

it('rpc/methods/eth/subscriptions/receiptsSubscription: writes the receipts of a block once for subscribers that read it together, and keeps a few', async () => {
  const chain = fakeChain([[]])
  const context = fakeContext(chain)
  const written: number[] = []
  const blocks: BlockCache = {
    ...context.blocks,
    read(view, hash) {
      const block = context.blocks.read(view, hash)
      if (block === undefined) return undefined
      if (Object.hasOwn(block.text, 'receipts')) return block
      const write = block.text.receipts.bind(block.text)
      block.text.receipts = () => {
        written.push(block.of.block.header.number)
        return write()
      }
      return block
    },
  }
  const [one, other, late] = [0, 1, 2].map(() => receiptsSubscription({ ...context, blocks }, { transactionHashes: [] }))
  const textsOf = async (subscription: typeof one): Promise<number> => {
    if (subscription?.kind !== 'changes') return expect.fail()
    return [...(await subscription.changes()).texts].length
  }
  for (let number = 1; number <= 10; number++) {
    chain.reorganise(number, [[[]]])
    expect([await textsOf(one), await textsOf(other)]).toEqual([1, 1])
  }
  expect(written.splice(0)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(await textsOf(late)).toBe(10)
  expect(written.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6])
})

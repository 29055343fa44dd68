import { expect, it } from 'vitest'
import { hashOf } from '#test/harness/chain/blocks'
import { followConfig } from '#test/harness/consensus/follow'
import { systemConfigWith } from '#test/harness/l1/systemConfig'
import type { L2Ref } from '#types/blockRef'
import type { SafeHeadEntry } from './ports.ts'
import { type Extension, SafeChain } from './safeChain.ts'

const { signal } = new AbortController()
const idAt = (number: number) => ({ number, hash: hashOf(`block ${number}`) })
const refAt = (number: number): L2Ref => {
  return { ...idAt(number), parentHash: hashOf(`block ${number - 1}`), timestamp: 2 * number, l1Origin: idAt(1), sequenceNumber: number }
}
const safeAt = (number: number): Extension['safe'] => ({ ref: refAt(number), systemConfig: systemConfigWith({}) })
const extensionAt = (number: number, isFinal = true): Extension => ({ safe: safeAt(number), derivedFrom: idAt(9), isFinal })

it('consensus/safeChain: does not hold repeated blocks, and labels the first block after them', async () => {
  const labelled: number[] = []
  const records: SafeHeadEntry[] = []
  const chain = new SafeChain(
    {
      queue: { labelSafe: async ({ number }) => void labelled.push(number), restart: async () => {} },
      store: { append: (entries) => void records.push(...entries), dropAfter: () => {}, last: () => undefined },
      config: followConfig,
    },
    {
      point: { l1: { ...idAt(1), parentHash: hashOf('none'), timestamp: 1 }, systemConfig: systemConfigWith({}), safe: safeAt(10) },
      ...{ settled: refAt(20), unsafe: refAt(30), derivedFrom: idAt(9), entry: undefined },
    },
  )
  for (let number = 11; number <= 18; number++) chain.extend(extensionAt(number, number <= 15))
  expect([await chain.commit(signal), chain.pendingBlocks, chain.tip.ref.number, chain.safeNumber]).toEqual([undefined, 3, 18, 20])
  chain.dropIncomplete()
  expect([chain.pendingBlocks, chain.tip.ref.number]).toEqual([0, 15])
  for (let number = 16; number <= 20; number++) chain.extend(extensionAt(number))
  expect([await chain.commit(signal), chain.pendingBlocks, chain.tip.ref.number]).toEqual([undefined, 0, 20])
  expect([labelled, records]).toEqual([[], []])
  chain.extend(extensionAt(21))
  expect([(await chain.commit(signal))?.number, chain.pendingBlocks, labelled]).toEqual([21, 0, [21]])
  expect(records).toEqual([{ l1: idAt(9), safe: idAt(21) }])
})

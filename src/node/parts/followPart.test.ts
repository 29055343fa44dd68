import { expect, it } from 'vitest'
import type { L2Source } from '#consensus/ports'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { announced } from './followPart.ts'

const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
const rootOf = (number: number): Hash => `0x${'ab'.repeat(30)}${number.toString(16).padStart(4, '0')}` as Hash
const payloadAt = (number: number) =>
  ({ blockNumber: number, blockHash: hashOf(number), parentHash: hashOf(number - 1), stateRoot: rootOf(number) }) as Payload

it('node/followPart: announces each block once with the state root of its parent, in whatever order responses come', async () => {
  const source = { payloads: async (from: number, count: number) => Array.from({ length: count }, (_, at) => payloadAt(from + at)) }
  const expected: [number, Hash, Hash][] = []
  const from = announced(source as unknown as L2Source, {
    expect: ({ number, hash }, root) => void expected.push([number, hash, root]),
    stateRootOf: (hash) => (hash === hashOf(10) ? rootOf(10) : undefined),
  })
  const { signal } = new AbortController()
  const announcement = (number: number): unknown => [number, hashOf(number), rootOf(number - 1)]
  await from.payloads(14, 3, signal)
  expect(expected).toEqual([15, 16].map(announcement))
  await from.payloads(11, 3, signal)
  await from.payloads(12, 1, signal)
  expect(expected).toEqual([15, 16, 11, 12, 13, 14].map(announcement))
})

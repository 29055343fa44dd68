import { describe, expect, it } from 'vitest'
import type { L1Source } from '#consensus/ports'
import { parseAddress, parseHash } from '#types/ids'
import { l1Transaction, receiptOf } from '../harness/derive/l1.ts'
import { createL1Chain, type L1Chain } from '../harness/l1/chain.ts'

/** Source of a chain. A call of `changed` notifies it of mined or dropped blocks. */
export type OpenL1 = (chain: L1Chain) => Promise<AsyncDisposable & { readonly source: L1Source; changed(): void }>

const { signal } = new AbortController()
const to = parseAddress(`0x${'ee'.repeat(20)}`)
const inbox = (text: string): Uint8Array => l1Transaction({ to, data: new TextEncoder().encode(text) })

function chainOf(length: number): L1Chain {
  const chain = createL1Chain({ chainId: 900, genesisTimeSec: 1_700_000_000, blockTimeSec: 12 })
  for (let number = 1; number < length; number++) chain.mine({ transactions: [inbox(`${number}`)] })
  return chain
}

/** Tests that every L1Source must pass. */
export function l1SourceContract(adapter: string, open: OpenL1): void {
  describe(`consensus/ports L1Source, ${adapter}`, () => {
    it('returns the same blocks by label, number and hash, and undefined for unknown ones', async () => {
      const chain = chainOf(12)
      await using opened = await open(chain)
      const { source } = opened
      expect(await source.head('latest', signal)).toEqual(chain.blocks[11]?.ref)
      expect(await source.head('safe', signal)).toEqual(chain.blocks[8]?.ref)
      expect(await source.head('finalized', signal)).toEqual(chain.blocks[6]?.ref)
      for (const block of chain.blocks) {
        expect(await source.block(block.ref.number, signal)).toEqual(block)
        expect(await source.block(block.ref.hash, signal)).toEqual(block)
        expect(await source.ref(block.ref.number, signal)).toEqual(block.ref)
      }
      expect(await source.block(12, signal)).toBeUndefined()
      expect(await source.ref(12, signal)).toBeUndefined()
      expect(await source.block(parseHash(`0x${'12'.repeat(32)}`), signal)).toBeUndefined()
    })

    it('returns a block that is mined later', async () => {
      const chain = chainOf(3)
      await using opened = await open(chain)
      expect(await opened.source.block(3, signal)).toBeUndefined()
      const block = chain.mine({ transactions: [inbox('new')], receipts: [receiptOf([], false)] })
      opened.changed()
      expect(await opened.source.block(3, signal)).toEqual(block)
    })

    it.each([1, 20])('returns the new block at the second request of a number after a reorg of %i blocks', async (depth) => {
      const chain = chainOf(30)
      await using opened = await open(chain)
      const { source } = opened
      await source.head('latest', signal)
      const first = 30 - depth - 2
      expect(await source.block(first, signal)).toEqual(chain.blocks[first])
      chain.drop(depth)
      for (let i = 0; i <= depth; i++) chain.mine({ transactions: [inbox(`other ${i}`)] })
      opened.changed()
      expect(await source.head('latest', signal)).toEqual(chain.blocks[30]?.ref)
      for (let number = first; number <= 30; number++) {
        const seen = await source.block(number, signal)
        // an old block that was read ahead may be returned once
        if (seen?.ref.hash !== chain.blocks[number]?.ref.hash) expect(await source.block(number, signal)).toEqual(chain.blocks[number])
        expect(await source.ref(number, signal)).toEqual(chain.blocks[number]?.ref)
      }
    })

    it('returns blobs in the order of the hashes, and missing for a slot without them', async () => {
      const chain = chainOf(3)
      const blobs = [1, 2].map((seed) => new Uint8Array(131_072).fill(seed))
      const hashes = blobs.map((blob) => chain.addBlob(blob))
      const { ref } = chain.mine({ transactions: [l1Transaction({ to, blobs: hashes })] })
      await using opened = await open(chain)
      expect(await opened.source.blobs(ref, hashes, signal)).toEqual(blobs)
      expect(await opened.source.blobs(ref, hashes.toReversed(), signal)).toEqual(blobs.toReversed())
      expect(await opened.source.blobs(ref, [], signal)).toEqual([])
      const elsewhere = { ...ref, timestamp: ref.timestamp + 12_000 }
      expect(await opened.source.blobs(elsewhere, [parseHash(`0x01${'34'.repeat(31)}`)], signal)).toBe('missing')
    })
  })
}

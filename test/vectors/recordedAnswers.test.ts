import { describe, expect, it } from 'vitest'
import { safeHeadAtL1Block } from '#consensus/syncStatus'
import { readRecordedChain } from '#devnet/recordedChain'
import { toHex } from '#lib/hex'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import { divergences } from '#test/harness/rpc/divergences'
import { compareExchanges, readExchanges } from '#test/harness/rpc/exchanges'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { encodeReceipt } from '#types/receipt'

describe.each(recordedChains)('%s', (name) => {
  it('node: derives and executes the recorded chain from L1, and answers every recorded request', { timeout: 120_000 }, async () => {
    const { blocks, safeHeads } = readRecordedChain(name)
    await using served = await serveRecordedChain(name)
    const { engine, store, driver } = served.session
    {
      using view = engine.view()
      for (const [number, { hash, receipts }] of blocks.entries()) {
        expect(view.canonicalHash(number), `block ${number}`).toBe(hash)
        expect(view.receipts(hash)?.map(({ receipt }) => toHex(encodeReceipt(receipt)))).toEqual(receipts.map(toHex))
      }
    }
    const status = driver.status()
    expect(safeHeads.map((_, l1Number) => safeHeadAtL1Block(store, status, l1Number)?.safe.number ?? 0)).toEqual(safeHeads)
    expect((await engine.heads()).safe.hash).toBe(blocks.at(-1)?.hash)

    const { different, divergent, skipped } = await compareExchanges(served.url, served.rollupUrl, readExchanges(name))
    expect(different).toEqual([])
    expect({ divergent, skipped }).toEqual(divergences[name])
  })
})

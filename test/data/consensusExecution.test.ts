import { describe, expect, it } from 'vitest'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import { createRecordedNodes } from '#test/harness/consensus/nodes'

class Kill extends Error {}

describe.each(recordedChains)('%s', (name) => {
  it('consensus: keeps every head through repeated kills around commits, with the recorded hashes', async () => {
    const { start, payloads, safeHeads } = createRecordedNodes(name)
    let [lives, shown] = [0, 0]
    for (let end: unknown = new Kill(); end instanceof Kill; lives++) {
      let count = 0
      const limit = 1 + ((lives * 7) % 12)
      const effect = () => {
        if (++count >= limit) throw new Kill()
      }
      const session = start(effect, { commitBlocks: 1 + (lives % 4) })
      expect((await session.engine.heads()).safe.number).toBeGreaterThanOrEqual(shown)
      end = await session.toTip().catch((error: unknown) => error)
      await session.stop()
      shown = (await session.engine.heads()).safe.number
    }
    const last = start()
    await last.toTip()
    const { safe } = await last.engine.heads()
    expect(lives).toBeGreaterThan(10)
    expect([safe.number, safe.hash]).toEqual([payloads.length - 1, payloads.at(-1)?.blockHash])
    for (const { blockNumber, blockHash } of payloads) expect((await last.engine.payload(blockNumber))?.blockHash).toBe(blockHash)
    expect(safeHeads.map((_, l1Number) => last.store.atOrBelow(l1Number)?.safe.number ?? 0)).toEqual(safeHeads)
  })

  it('consensus: unwinds to the finalized head and derives again when the safe head store is lost', async () => {
    const { start, payloads, loseStore, safeHeads } = createRecordedNodes(name)
    const first = start()
    await first.toTip()
    await first.stop()
    const finalized = safeHeads.at(-6) ?? 0
    expect((await first.engine.heads()).finalized.number).toBe(finalized)
    loseStore()
    const second = start()
    await second.until(
      async () => (await second.engine.heads()).safe.number < payloads.length - 1 || second.driver.status().wait !== undefined,
    )
    await second.toTip()
    expect((await second.engine.heads()).safe.hash).toBe(payloads.at(-1)?.blockHash)
    expect(second.store.last()?.safe.hash).toBe(payloads.at(-1)?.blockHash)
    expect(second.store.atOrBelow(0)).toBeUndefined()
  })
})

import { startDevnet } from 'basalt/devnet'
import { expect, it } from 'vitest'

it('a chain recovers from a reorg of its L1', async () => {
  await using devnet = await startDevnet({ blockTimeSec: 1, l1BlockTimeSec: 1 })
  const isSafeBeyond = (block: number) => () => devnet.status().verifier.safe > block
  await expect.poll(isSafeBeyond(2), { timeout: 30_000 }).toBe(true)
  const before = devnet.status().sequencer.unsafe
  await devnet.faults.reorgL1(3)
  await expect.poll(isSafeBeyond(before), { timeout: 30_000 }).toBe(true)
  expect(devnet.status().agreement.kind).toBe('agrees')
})

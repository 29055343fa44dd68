import { expect, it } from 'vitest'
import { safeHeadAtL1Block, syncStatusOf } from '#consensus/syncStatus'
import { readRecordedChain } from '#devnet/recordedChain'
import { recordedChains } from '../harness/chain/l2Blocks.ts'
import { createRecordedHost } from '../harness/consensus/recorded.ts'

class Kill extends Error {}

it.each(recordedChains)(
  'consensus/driver: derives %s in one run with the recorded safe head after each L1 block and the finalized head',
  async (name) => {
    const host = createRecordedHost(readRecordedChain(name))
    const { payloads } = host.recording
    const session = host.start()
    await session.toTip()
    expect(session.engine.hashes()).toEqual(payloads.map((payload) => payload.blockHash))
    const status = session.driver.status()
    const after = host.safeHeads.map((_, l1Number) => safeHeadAtL1Block(session.store, status, l1Number)?.safe.number ?? 0)
    expect(after).toEqual(host.safeHeads)
    const { finalizedL2, currentL1 } = syncStatusOf(status)
    expect(finalizedL2?.number).toBe(host.safeHeads.at(-6))
    expect(currentL1).toEqual(host.l1.tip)
    expect(status.resets).toBe(0)
  },
)

it.each(recordedChains)('consensus/driver: derives %s with a restart after each L1 block', async (name) => {
  const host = createRecordedHost(readRecordedChain(name))
  const { genesis } = host.recording.config
  for (let l1Number = genesis.l1.number; l1Number < host.safeHeads.length; l1Number++) {
    host.reveal(l1Number)
    const session = host.start()
    await session.toTip()
    const { heads } = session.driver.status()
    expect(heads?.safe.number, `after L1 block ${l1Number}`).toBe(host.safeHeads[l1Number])
    expect(heads?.finalized.number, `after L1 block ${l1Number}`).toBe(host.safeHeads[l1Number - 5] ?? 0)
    await session.stop()
  }
})

it.each(recordedChains)('consensus/driver: derives %s through repeated kills, with one block per commit', async (name) => {
  const host = createRecordedHost(readRecordedChain(name))
  const { payloads } = host.recording
  let lives = 0
  for (let end: unknown = new Kill(); end instanceof Kill; lives++) {
    let count = 0
    const limit = 5 + ((lives * 37) % 61)
    const effect = (): void => {
      if (++count >= limit) throw new Kill()
    }
    const session = host.start(effect, { commitBlocks: 1 })
    end = await session.toTip().catch((error: unknown) => error)
    await session.stop()
  }
  const last = host.start()
  await last.toTip()
  expect(lives).toBeGreaterThan(10)
  expect(last.engine.hashes()).toEqual(payloads.map((payload) => payload.blockHash))
  const after = host.safeHeads.map((_, l1Number) => last.store.atOrBelow(l1Number)?.safe.number ?? 0)
  expect(after).toEqual(host.safeHeads)
})

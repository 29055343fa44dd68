import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import type { JournalRecord } from '#store/ports'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createExecution } from './execution.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

it('blockchain/execution: restores acknowledged blocks after a kill when together they exceed the tree', async () => {
  const kv = createMemoryKv()
  const segments = new Map<number, JournalRecord[]>()
  const start = (maxTreeBytes: number) => {
    const deps = { kv, journal: createMemoryJournal(segments), evm: sharedEvm, config, genesis: () => genesis, log: silentLog }
    return createExecution({ ...deps, clock: createManualClock() }, { maxTreeBytes })
  }
  const first = start(2 ** 20)
  for (let number = 1; number <= 2; number++) {
    const heads = await first.heads()
    const large = signedBy('alice', { gasLimit: 2_000_000n, data: new Uint8Array(20_000) })
    const built = await first.build(heads.unsafe, attributesAt(schedule, number, number === 2 ? [large] : []))
    if (built.kind === 'invalid') throw new Error(built.reason)
    await first.setHeads({ ...heads, unsafe: l2RefOf(config, built.payload) })
  }
  const second = start(first.sizes().treeBytes - 1)
  expect(await second.heads()).toEqual(await first.heads())
})

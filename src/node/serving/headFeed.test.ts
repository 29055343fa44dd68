import { expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId, L2Ref } from '#types/blockRef'
import { createHeadFeed } from './headFeed.ts'

const schedule = scheduleTo('jovian')

it('node/serving/headFeed: emits each new canonical block once, in order, and the new branch of a reorg, stored blocks too; nothing for a commit or a shorter chain', async () => {
  const { genesis, config } = smallChain(schedule)
  const feed = createHeadFeed(() => execution.view())
  const records: HeadRecord[] = []
  const onPublish = (record: HeadRecord): void => {
    records.push(record)
    feed.publish(record)
  }
  const deps = { kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
  await using execution = createExecution({ ...deps, onPublish })
  const told: string[] = []
  using subscribed = feed.subscribe((blocks) => told.push(...blocks.map(({ block, hash }) => `${block.header.number} ${hash}`)))
  const { finalized } = await execution.heads()

  async function build(parent: BlockId, branch: number): Promise<L2Ref> {
    const built = await execution.build(parent, attributesAt(schedule, parent.number + 1, [], branch))
    if (built.kind === 'invalid') throw new Error(built.reason)
    return l2RefOf(config, built.payload)
  }
  const setUnsafe = (unsafe: L2Ref, safe = finalized): Promise<void> => execution.setHeads({ unsafe, safe, finalized })
  const text = ({ number, hash }: BlockId): string => `${number} ${hash}`

  const one = await build(finalized, 0)
  const two = await build(one, 0)
  await setUnsafe(two)
  expect(told.splice(0)).toEqual([one, two].map(text))
  await setUnsafe(two, one)
  const published = records.length
  execution.commit()
  expect(records.length).toBeGreaterThan(published)
  expect(told).toEqual([])
  const three = await build(two, 0)
  await setUnsafe(three)
  expect(told.splice(0)).toEqual([three].map(text))
  const otherTwo = await build(one, 1)
  const otherThree = await build(otherTwo, 1)
  await setUnsafe(otherThree)
  expect(told.splice(0)).toEqual([otherTwo, otherThree].map(text))
  execution.commit()
  await setUnsafe(one)
  expect(told).toEqual([])
  await setUnsafe(three)
  expect(told.splice(0)).toEqual([two, three].map(text))
  // two and three are stored
  execution.commit()
  await setUnsafe(one)
  expect(told).toEqual([])
  await setUnsafe(three)
  expect(told.splice(0)).toEqual([two, three].map(text))
  await setUnsafe(otherTwo)
  expect(told.splice(0)).toEqual([otherTwo].map(text))
  const four = await build(three, 0)
  await setUnsafe(four)
  expect(told.splice(0)).toEqual([two, three, four].map(text))
  await setUnsafe(three)
  await setUnsafe(two)
  expect(told).toEqual([])
  subscribed[Symbol.dispose]()
  await setUnsafe(await build(three, 0))
  expect(told).toEqual([])
})

import { describe, expect, it } from 'vitest'
import { activatesAt } from '#chain/forks'
import { createPipeline } from '#derive/pipeline'
import { silentLog } from '#lib/log'
import { DeriveDriver } from '../harness/deriveDriver.ts'
import { l1BlockOfJson, readRecordedL1 } from '../harness/l1Blocks.ts'
import { readRecordedL2, recordedChains } from '../harness/l2Blocks.ts'
import { attributesIn, headAt, type Recording, readableAttributes, recordedWorld, startAt } from '../harness/recordedDerivation.ts'
import { readSharedJson } from '../harness/sharedData.ts'

describe.each(recordedChains)('%s', (name) => {
  const { blocks, blobs } = readRecordedL1(name)
  const recording: Recording = { ...readRecordedL2(name), l1: blocks.map(l1BlockOfJson), blobs }
  const { config, payloads } = recording
  const safeHeads = readSharedJson<number[]>(`chains/${name}/safe-heads.json`)

  const drive = (from: number, channelTimeoutBlocks: number): DeriveDriver => {
    const start = startAt(recording, from, channelTimeoutBlocks)
    const world = recordedWorld(recording, ({ attributes }, safe) => {
      const payload = payloads[safe.ref.number + 1]
      if (!payload) return 'invalid'
      const isFirstHolocene = activatesAt(config.schedule, 'holocene', safe.ref.timestamp, payload.timestamp)
      expect(readableAttributes(attributes)).toEqual(attributesIn(payload, isFirstHolocene))
      return headAt(recording, payload.blockNumber)
    })
    const driver = new DeriveDriver(createPipeline(config, start, silentLog), start, world)
    expect(driver.run()).toEqual({ kind: 'l1', number: safeHeads.length })
    return driver
  }

  it('derive/pipeline: every block and the safe head after every L1 block are those of the recording', () => {
    const driver = drive(0, config.channelTimeoutBlocks)
    expect(driver.derived).toHaveLength(payloads.length - 1)
    const after = safeHeads.map((_, number) => (number < config.genesis.l1.number ? 0 : driver.safeAfter(number)))
    expect(after).toEqual(safeHeads)
  })

  it('derive/pipeline: from any safe block, also in the middle of a span, derivation goes on to the same head', () => {
    for (let from = 1; from < payloads.length - 1; from++) {
      const driver = drive(from, config.channelTimeoutBlocks)
      expect(driver.safe.ref.number, `from block ${from}`).toBe(payloads.length - 1)
    }
  })
})

import { expect } from 'vitest'
import { activatesAt } from '#chainspec/forks'
import { createPipeline } from '#derive/pipeline'
import { silentLog } from '#lib/log'
import { DeriveDriver } from '../derive/driver.ts'
import { attributesIn, headAt, type Recording, readableAttributes, recordedWorld, startAt } from '../derive/recordedDerivation.ts'

/** Derives a recorded chain from one of its blocks. Each block's attributes must equal the recorded ones. */
export function deriveRecorded(recording: Recording, from: number): DeriveDriver {
  const { config, payloads, l1 } = recording
  const start = startAt(recording, from, config.channelTimeoutBlocks)
  const world = recordedWorld(recording, ({ attributes }, safe) => {
    const payload = payloads[safe.ref.number + 1]
    if (!payload) return 'invalid'
    const isFirstHolocene = activatesAt(config.schedule, 'holocene', safe.ref.timestamp, payload.timestamp)
    expect(readableAttributes(attributes)).toEqual(attributesIn(payload, isFirstHolocene))
    return headAt(recording, payload.blockNumber)
  })
  const driver = new DeriveDriver(createPipeline(config, start, silentLog), start, world)
  expect(driver.run()).toEqual({ kind: 'l1', number: (l1.at(-1)?.ref.number ?? 0) + 1 })
  return driver
}

/** Derives the whole chain and checks the safe head after each L1 block (indexed by L1 number). */
export function checkWholeChain(recording: Recording, safeHeads: readonly number[]): void {
  const driver = deriveRecorded(recording, 0)
  expect(driver.derived).toHaveLength(recording.payloads.length - 1)
  const after = safeHeads.map((_, number) => (number < recording.config.genesis.l1.number ? 0 : driver.safeAfter(number)))
  expect(after).toEqual(safeHeads)
}

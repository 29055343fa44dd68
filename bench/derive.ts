// Derivation without execution: the recorded chain from the raw bytes of verified L1 blocks in memory to attributes; the engine replies at once.

import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createPipeline } from '../src/derive/pipeline.ts'
import { readRecordedChain } from '../src/devnet/recordedChain.ts'
import { silentLog } from '../src/lib/log.ts'
import { decodeBlock } from '../src/types/block.ts'
import { DeriveDriver } from '../test/harness/derive/driver.ts'
import { headAt, recordedWorld, startAt } from '../test/harness/derive/recordedDerivation.ts'
import { l1BlockOfJson } from '../test/harness/l1/blocks.ts'
import { type Row, row } from './format.ts'

const blocksPerRun = 20_000
const runs = 5

/** Derives the chain repeatedly, each time with a fresh pipeline. @returns L2 blocks per second */
export async function run(): Promise<Row[]> {
  const chain = readRecordedChain()
  const payloads = chain.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(raw)))
  const recording = { config: chain.config, payloads, l1: chain.l1.blocks.map(l1BlockOfJson), blobs: chain.l1.blobs }
  const heads = payloads.map((_, number) => headAt(recording, number))
  const world = recordedWorld(recording, (_, safe) => heads[safe.ref.number + 1] ?? 'invalid')
  const start = startAt(recording, 0, chain.config.channelTimeoutBlocks)
  const last = payloads.length - 1

  const once = (): void => {
    const driver = new DeriveDriver(createPipeline(chain.config, start, silentLog), start, world)
    driver.run()
    if (driver.safe.ref.number !== last) throw new Error(`derived ${driver.safe.ref.number} of ${last} blocks`)
  }
  const measure = (): number => {
    const began = performance.now()
    let blocks = 0
    for (; blocks < blocksPerRun; blocks += last) once()
    return blocks / ((performance.now() - began) / 1000)
  }

  measure()
  return [row('derive: recorded chain, execution stubbed', 'L2 blocks/s', Array.from({ length: runs }, measure))]
}

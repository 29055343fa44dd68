import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { readRecordedChain } from '#devnet/recordedChain'
import { decodeBlock } from '#types/block'
import { checkWholeChain, deriveRecorded } from '../harness/chain/recordedChecks.ts'
import { l1BlockOfJson } from '../harness/l1/blocks.ts'

const chain = readRecordedChain()
const recording = {
  config: chain.config,
  payloads: chain.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(raw))),
  l1: chain.l1.blocks.map(l1BlockOfJson),
  blobs: chain.l1.blobs,
}

it('derive/pipeline: derives every block of the recorded chain and the safe head after every L1 block as other clients do', () => {
  checkWholeChain(recording, chain.safeHeads)
})

it('derive/pipeline: derives to the same head from a block in the middle of the recorded chain', () => {
  const last = recording.payloads.length - 1
  for (const from of [7, 41, 90, last - 3]) expect(deriveRecorded(recording, from).safe.ref.number).toBe(last)
})

import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { encodeChannel } from '#test/harness/derive/channels'
import { decodeTransaction } from '#types/transaction'
import { decompressChannel, readBatches } from '../../src/derive/codec/channel.ts'
import { decodeFrames } from '../../src/derive/codec/frame.ts'
import { readRecordedL2, recordedChains } from '../harness/chain/l2Blocks.ts'
import { checkWholeChain, deriveRecorded } from '../harness/chain/recordedChecks.ts'
import type { Recording } from '../harness/derive/recordedDerivation.ts'
import { l1BlockOfJson, readRecordedL1 } from '../harness/l1/blocks.ts'
import { readShared, readSharedJson } from '../harness/sharedData.ts'

describe.each(recordedChains)('%s', (name) => {
  const { blocks, blobs } = readRecordedL1(name)
  const recording: Recording = { ...readRecordedL2(name), l1: blocks.map(l1BlockOfJson), blobs }
  const last = recording.payloads.length - 1

  it('derive/pipeline: derives the recorded blocks and the recorded safe head after every L1 block', () => {
    checkWholeChain(recording, readSharedJson<number[]>(`chains/${name}/safe-heads.json`))
  })

  it('derive/pipeline: derives to the same head from any safe block, even in the middle of a span', () => {
    for (let from = 1; from < last; from++) expect(deriveRecorded(recording, from).safe.ref.number, `from block ${from}`).toBe(last)
  })
})

describe('OP Mainnet', () => {
  const read = (file: string): Uint8Array => {
    const text = readShared(`derive/${file}`).toString('utf8').trim()
    return fromHex(text.startsWith('0x') ? text : `0x${text}`)
  }
  const rules = { maxRlpBytes: 10_000_000, allowsBrotli: false }

  it('derive/codec: decodes a channel of OP Mainnet to one span batch and encodes it to the same bytes', () => {
    const channel = read('op-mainnet-span-batch-channel.hex')
    const rlp = decompressChannel(channel, rules)
    expect([channel.length, rlp.length]).toEqual([615_361, 1_409_463])
    const reader = readBatches(rlp, 10)
    const batch = reader.next()
    if (batch?.kind !== 'span') throw new Error('not a span batch')
    expect(reader.next()).toBeUndefined()
    expect(batch).toMatchObject({ relativeTimestamp: 32_295_734n, l1OriginNumber: 20_089_770n })
    expect(toHex(batch.parentCheck)).toMatch(/^0xba1be7cf.*4823$/)
    expect(toHex(batch.l1OriginCheck)).toMatch(/^0x4bd8da85.*cbcb$/)
    const blocks = [...batch.blocks]
    const counts = [batch.blockCount, blocks.reduce((sum, { transactions }) => sum + transactions.length, 0)]
    expect([...counts, blocks.filter(({ advancesOrigin }) => advancesOrigin).length]).toEqual([143, 1766, 24])
    expect(toHex(decompressChannel(encodeChannel([batch], 10, 'zlib'), rules))).toBe(toHex(rlp))
  })

  it('derive/codec: decodes a batcher transaction to one frame, and the batches of its channel although the end is missing', () => {
    const tx = decodeTransaction(read('op-mainnet-batcher-transaction.hex'))
    expect(tx).toMatchObject({ type: 2, chainId: 1n, nonce: 1_104_454n, to: '0xff00000000000000000000000000000000000010' })
    expect(tx.data).toHaveLength(119_823)
    const frames = decodeFrames(tx.data)
    if (frames.kind !== 'decoded') throw new Error(frames.reason)
    expect(frames.value).toHaveLength(1)
    const [frame] = frames.value
    const reader = readBatches(decompressChannel(frame?.data ?? new Uint8Array(0), rules), 10)
    let count = 0
    while (reader.next()) count++
    expect([count, frame?.isLast]).toEqual([expect.any(Number), true])
    expect(count).toBeGreaterThan(0)
  })
})

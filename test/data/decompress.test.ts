import { constants, inflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { decompressPrefix } from '#lib/decompress'
import { fromHex } from '#lib/hex'
import { decodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import { brotliCompress } from '#test/harness/derive/channels'
import { readShared } from '#test/harness/sharedData'

const readHex = (path: string): Uint8Array => fromHex(`0x${readShared(path).toString('utf8').trim().replace(/^0x/, '')}`)
const channel = readHex('derive/op-mainnet-span-batch-channel.hex')
const plain = inflateSync(channel)

it("lib/decompress: inflates a real channel to zlib's bytes: whole, limited, cut, followed by garbage", () => {
  expect(plain).toHaveLength(1_409_463)
  for (const limit of [1_000_000, plain.length - 1, plain.length, plain.length + 1]) {
    expect(Buffer.compare(decompressPrefix('zlib', channel, limit), plain.subarray(0, limit))).toBe(0)
  }
  expect(Buffer.compare(decompressPrefix('zlib', concatBytes(channel, channel), 1e8), plain)).toBe(0)
  for (const share of [0.1, 0.5, 0.999]) {
    const cut = channel.subarray(0, channel.length * share)
    expect(Buffer.compare(decompressPrefix('zlib', cut, 1e8), inflateSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }))).toBe(0)
  }
})

it('lib/decompress: decompresses the same bytes with brotli', () => {
  const packed = brotliCompress(plain)
  for (const limit of [1_000_000, plain.length - 1, plain.length + 1]) {
    expect(Buffer.compare(decompressPrefix('brotli', packed, limit), plain.subarray(0, limit))).toBe(0)
  }
  const prefix = decompressPrefix('brotli', packed.subarray(0, packed.length / 2), 1e8)
  expect(Buffer.compare(prefix, plain.subarray(0, prefix.length))).toBe(0)
  expect(prefix.length).toBeGreaterThan(plain.length / 3)
})

it("lib/decompress: inflates a real batcher transaction's stream although its end is missing", () => {
  // calldata: version byte, then one frame: channel 16 bytes, number 2, length 4, data, is_last 1
  const fields = rlpList(decodeRlp(readHex('derive/op-mainnet-batcher-transaction.hex').subarray(1)), 'transaction')
  const frame = rlpBytes(fields[7], 'calldata').subarray(1)
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(18)
  const stream = frame.subarray(22, 22 + length)
  expect(() => inflateSync(stream)).toThrow('unexpected end of file')
  expect(Buffer.compare(decompressPrefix('zlib', stream, 1e8), inflateSync(stream, { finishFlush: constants.Z_SYNC_FLUSH }))).toBe(0)
})

import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { type Hex, toHex } from '#lib/hex'
import { ByteReader } from './byteReader.ts'
import { type Decoded, decoding, MalformedError } from './decoded.ts'

/** Part of a channel. @see specs protocol/derivation.md, "Frame Format" */
export type Frame = {
  /** 16 bytes as hex */
  readonly channelId: Hex
  /** u16 */
  readonly number: number
  readonly data: Uint8Array
  readonly isLast: boolean
}

/** Version byte of batcher transactions that carry frames. */
const derivationVersion = 0
const channelIdBytes = 16
/** Size of a frame without its data: channel id, number, length, `is_last`. */
export const frameOverheadBytes = 23
export const maxFrameDataBytes = 1_000_000
const maxFrameNumber = 0xffff

function readFrame(reader: ByteReader): Frame {
  const channelId = toHex(reader.take(channelIdBytes))
  const number = reader.uint(2)
  const length = reader.uint(4)
  if (length > maxFrameDataBytes) throw new MalformedError(`frame of ${length} bytes`)
  const data = reader.take(length)
  const last = reader.byte()
  if (last > 1) throw new MalformedError(`is_last is ${last}, not 0 or 1`)
  return { channelId, number, data, isLast: last === 1 }
}

/**
 * Decodes the frames of one batcher transaction. When one of them is malformed, the result holds no frames. Their data are views of the input.
 * @see specs protocol/derivation.md, "Batcher Transaction Format"
 */
export function decodeFrames(data: Uint8Array): Decoded<readonly Frame[]> {
  return decoding(() => {
    const reader = new ByteReader(data)
    const version = reader.byte()
    if (version !== derivationVersion) throw new MalformedError(`unknown version ${version}`)
    const frames: Frame[] = []
    do frames.push(readFrame(reader))
    while (reader.left > 0)
    return frames
  })
}

/** Encodes frames as the data of a batcher transaction. RangeError when a frame exceeds the format's limits, or when there are no frames. */
export function encodeFrames(frames: readonly Frame[]): Uint8Array {
  if (frames.length === 0) throw new RangeError('no frames')
  const parts: Uint8Array[] = [Uint8Array.of(derivationVersion)]
  for (const { channelId, number, data, isLast } of frames) {
    if (data.length > maxFrameDataBytes || number > maxFrameNumber) throw new RangeError(`frame ${number} of ${data.length} bytes`)
    parts.push(
      bytesFromBigint(BigInt(channelId), channelIdBytes),
      bytesFromBigint(BigInt(number), 2),
      bytesFromBigint(BigInt(data.length), 4),
      data,
      Uint8Array.of(isLast ? 1 : 0),
    )
  }
  return concatBytes(...parts)
}

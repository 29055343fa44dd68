import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { type Hex, toHex } from '#lib/hex'
import { ByteReader } from './byteReader.ts'
import { type Decoded, decoding, MalformedError } from './decoded.ts'

/** A piece of a channel. @see specs protocol/derivation.md, "Frame Format" */
export type Frame = {
  /** 16 bytes as hex */
  readonly channelId: Hex
  /** u16 */
  readonly number: number
  readonly data: Uint8Array
  readonly isLast: boolean
}

/** The version of batcher transactions that carry frames. */
const derivationVersion = 0
const channelIdBytes = 16
/** What a frame costs beside its data: channel id, number, length, last mark. */
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
  if (last > 1) throw new MalformedError(`last mark ${last}`)
  return { channelId, number, data, isLast: last === 1 }
}

/**
 * The frames of one batcher transaction's data: all of them, or none when anything is wrong. Their data are views.
 * @see specs protocol/derivation.md, "Batcher Transaction Format"
 */
export function decodeFrames(data: Uint8Array): Decoded<readonly Frame[]> {
  return decoding(() => {
    const reader = new ByteReader(data)
    const version = reader.byte()
    if (version !== derivationVersion) throw new MalformedError(`version ${version}`)
    const frames: Frame[] = []
    do frames.push(readFrame(reader))
    while (reader.left > 0)
    return frames
  })
}

/** Data of a batcher transaction. RangeError on a frame that cannot be written, or on none. */
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

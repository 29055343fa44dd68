import { type Cursor, cursorOver, demand } from './cursor.ts'

export type SeenFrame = {
  /** 32 hex digits. */
  readonly channel: string
  readonly number: number
  readonly data: Buffer
  readonly isLast: boolean
}

/**
 * Returns the frames of one batcher transaction (its calldata, or the data of one of its blobs).
 * @see specs protocol/derivation.md, "Batcher Transaction Format", "Frame Format"
 */
export function framesOfPayload(payload: Uint8Array): readonly SeenFrame[] {
  const cursor = cursorOver(payload)
  const version = cursor.unsigned(1, 'version_byte')
  demand(version === 0, `version_byte ${version}`)
  const frames: SeenFrame[] = []
  do frames.push(oneFrame(cursor))
  while (cursor.left() > 0)
  return frames
}

function oneFrame(cursor: Cursor): SeenFrame {
  const channel = cursor.bytes(16, 'channel_id').toString('hex')
  const number = cursor.unsigned(2, 'frame_number')
  const length = cursor.unsigned(4, 'frame_data_length')
  demand(length <= 1_000_000, `frame_data_length ${length}`)
  const data = cursor.bytes(length, 'frame_data')
  const isLast = cursor.unsigned(1, 'is_last')
  demand(isLast === 0 || isLast === 1, `is_last ${isLast}`)
  return { channel, number, data, isLast: isLast === 1 }
}

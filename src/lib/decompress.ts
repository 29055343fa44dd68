import { createRequire } from 'node:module'
import type * as BrotliWasm from 'brotli-wasm'
import { ZStream, zlibInflate, zlibInflateInit2 } from 'pako'
import { concatBytes } from './bytes.ts'
import { lazy } from './lazy.ts'

/** Output is made in pieces of this size: a bomb costs one or two pieces beyond the limit. */
const chunkBytes = 65_536
const sliceBytes = 16_384

/** A raw deflate stream with the largest window: distances are not held against the window that the zlib header declares. */
const rawWindowBits = -15
const zNoFlush = 0
const zOk = 0

const needsMoreInput = 2
const needsMoreOutput = 3

const brotli = lazy((): typeof BrotliWasm => createRequire(import.meta.url)('brotli-wasm'))

/** The brotli decoder refused something in the slice that begins here, and kept to itself what it had decoded of it. */
class CorruptSlice extends Error {
  readonly from: number

  constructor(from: number) {
    super(`brotli stream corrupt after byte ${from}`)
    this.from = from
  }
}

export type Compression = 'zlib' | 'brotli'

/**
 * The first bytes of what a stream decompresses to, as far as it is valid: of one that is cut, corrupt, endless, too long or followed by
 * something else, what stands before that. Synchronous; memory is bounded by `maxBytes` and a chunk.
 * @returns at most `maxBytes` bytes
 */
export function decompressPrefix(compression: Compression, bytes: Uint8Array, maxBytes: number): Uint8Array {
  return compression === 'zlib' ? inflatePrefix(bytes, maxBytes) : brotliPrefix(bytes, maxBytes)
}

/**
 * What a zlib stream (RFC 1950) decodes to, as far as it is valid. A stream that is cut, or corrupt, or without an end gives what stands before
 * the fault, symbol by symbol; the checksum at its end and whatever follows it are not looked at. A bad header, or one that asks for a
 * dictionary, gives nothing.
 * @returns at most the first `maxBytes` bytes of the output
 */
function inflatePrefix(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return hasZlibHeader(bytes) ? take(inflateChunks(bytes.subarray(2)), maxBytes) : new Uint8Array(0)
}

/**
 * What a brotli stream (RFC 7932) decodes to, as far as it is valid: of a corrupt stream all that the whole bytes before the faulty one give.
 * The large-window extension is refused, as the RFC has it. Whatever follows the stream's end is not looked at.
 * @returns at most the first `maxBytes` bytes of the output
 */
function brotliPrefix(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (((bytes[0] ?? 0) & 0x7f) === 0x11) return new Uint8Array(0)
  try {
    return take(brotliChunks(bytes, bytes.length), maxBytes)
  } catch (error) {
    if (!(error instanceof CorruptSlice)) throw error
    return take(brotliChunks(bytes, error.from), maxBytes)
  }
}

/** Compression method 8, window of at most 32 KiB, check bits, no preset dictionary. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [method = 0, flags = 0] = bytes
  return (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0 && (flags & 0x20) === 0
}

function take(chunks: Iterable<Uint8Array>, maxBytes: number): Uint8Array {
  const taken: Uint8Array[] = []
  let room = maxBytes
  for (const chunk of chunks) {
    if (room <= 0) break
    if (chunk.length > 0) taken.push(chunk.subarray(0, room))
    room -= chunk.length
  }
  return concatBytes(...taken)
}

function* inflateChunks(deflated: Uint8Array): Generator<Uint8Array> {
  const stream = new ZStream()
  zlibInflateInit2(stream, rawWindowBits)
  stream.input = deflated
  stream.avail_in = deflated.length
  for (;;) {
    stream.output = new Uint8Array(chunkBytes)
    stream.next_out = 0
    stream.avail_out = chunkBytes
    const status = zlibInflate(stream, zNoFlush)
    yield stream.output.subarray(0, stream.next_out)
    if (status !== zOk || stream.avail_out > 0) return
  }
}

/**
 * From `bytewiseFrom` on the input goes in byte by byte, so that the decoder hands out everything it has before it meets the fault. A decoder
 * that asks for more input while it fills a piece may hold more output: it gets no input until that is out.
 */
function* brotliChunks(bytes: Uint8Array, bytewiseFrom: number): Generator<Uint8Array> {
  const stream = new (brotli().DecompressStream)()
  try {
    let at = 0
    let holdsMore = false
    for (;;) {
      const to = holdsMore ? at : at < bytewiseFrom ? Math.min(at + sliceBytes, bytewiseFrom) : at + 1
      const slice = bytes.subarray(at, to)
      const step = decodeSlice(stream, slice)
      if (step === undefined && slice.length > 1) throw new CorruptSlice(at)
      if (step === undefined) return
      yield step.output
      at += step.consumed
      holdsMore = step.code === needsMoreInput && step.output.length === chunkBytes
      const goesOn = holdsMore || step.code === needsMoreOutput || (step.code === needsMoreInput && at < bytes.length)
      if (!goesOn) return
    }
  } finally {
    stream.free()
  }
}

type BrotliStep = { readonly output: Uint8Array; readonly code: number; readonly consumed: number }

function decodeSlice(stream: BrotliWasm.DecompressStream, slice: Uint8Array): BrotliStep | undefined {
  try {
    const result = stream.decompress(slice, chunkBytes)
    const step = { output: result.buf, code: result.code, consumed: result.input_offset }
    result.free()
    return step
  } catch {
    return undefined
  }
}

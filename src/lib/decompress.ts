import { createRequire } from 'node:module'
import type * as BrotliWasm from 'brotli-wasm'
import { ZStream, zlibInflate, zlibInflateInit2 } from 'pako'
import { concatBytes } from './bytes.ts'
import { lazy } from './lazy.ts'

/** Size of one output chunk. A decompression bomb costs at most two chunks beyond the limit. */
const chunkBytes = 65_536
const sliceBytes = 16_384

/** Raw deflate with the largest window. The window size declared in the zlib header is not enforced. */
const rawWindowBits = -15
const zNoFlush = 0
const zOk = 0

const needsMoreInput = 2
const needsMoreOutput = 3

const brotli = lazy((): typeof BrotliWasm => createRequire(import.meta.url)('brotli-wasm'))

/** Thrown when the brotli decoder rejects the slice that begins at `from`; the output already decoded from that slice is lost. */
class CorruptSlice extends Error {
  readonly from: number

  constructor(from: number) {
    super(`brotli stream corrupt after byte ${from}`)
    this.from = from
  }
}

export type Compression = 'zlib' | 'brotli'

/**
 * Decompresses the longest valid prefix of a stream. A stream that is truncated, corrupt, endless, too long or followed by other bytes yields the
 * output
 * before that point. Synchronous; memory is bounded by `maxBytes` plus one chunk.
 * @returns at most `maxBytes` bytes
 */
export function decompressPrefix(compression: Compression, bytes: Uint8Array, maxBytes: number): Uint8Array {
  return compression === 'zlib' ? inflatePrefix(bytes, maxBytes) : brotliPrefix(bytes, maxBytes)
}

/**
 * Decodes the longest valid prefix of a zlib stream (RFC 1950). A truncated or corrupt stream yields the output before the fault, to the symbol.
 * The checksum and any bytes after the stream are ignored. A bad header or a preset dictionary yields nothing.
 * @returns at most the first `maxBytes` bytes of the output
 */
function inflatePrefix(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return hasZlibHeader(bytes) ? take(inflateChunks(bytes.subarray(2)), maxBytes) : new Uint8Array(0)
}

/**
 * Decodes the longest valid prefix of a brotli stream (RFC 7932). A corrupt stream yields the output of all whole bytes before the faulty one.
 * Streams with the large-window extension are rejected, as the RFC requires. Bytes after the end of the stream are ignored.
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

/** Checks the zlib header: compression method 8, window of at most 32 KiB, check bits, no preset dictionary. */
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
 * Yields decoded chunks. From `bytewiseFrom` on, the decoder receives one byte at a time, so it emits all output before it meets the fault.
 * A decoder that requests input right after filling a chunk may hold more output; it receives no input until that output is emitted.
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

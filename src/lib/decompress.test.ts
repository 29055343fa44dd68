import { Buffer } from 'node:buffer'
import { brotliCompressSync, brotliDecompressSync, constants, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatBytes } from './bytes.ts'
import { compress } from './compress.ts'
import { decompressPrefix } from './decompress.ts'

/** Node's own decoders (zlib and brotli in C) as the reference: the full output of a truncated stream, or undefined when it is corrupt. */
const formats = [
  {
    name: 'zlib',
    prefix: (bytes: Uint8Array, maxBytes: number) => decompressPrefix('zlib', bytes, maxBytes),
    compress: (bytes: Uint8Array) => deflateSync(bytes),
    oracle: (bytes: Uint8Array) => attempt(() => inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })),
  },
  {
    name: 'brotli',
    prefix: (bytes: Uint8Array, maxBytes: number) => decompressPrefix('brotli', bytes, maxBytes),
    compress: (bytes: Uint8Array) => brotliCompressSync(bytes),
    oracle: (bytes: Uint8Array) => attempt(() => brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH })),
  },
]

function attempt(decode: () => Buffer): Buffer | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/** Deterministic test text, neither random nor trivial: words from a small vocabulary. */
function prose(length: number): Uint8Array {
  const out = new Uint8Array(length)
  let seed = 1
  for (let i = 0; i < length; i++) {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    out[i] = seed % 7 === 0 ? 32 : 97 + ((seed >> 8) % 16)
  }
  return out
}

const plain = prose(300_000)

describe.each(formats)('lib/decompress', ({ name, prefix, compress, oracle }) => {
  const packed = compress(plain)

  it(`${name}: returns min(limit, length) bytes for limits of zero, around the output length, and at chunk boundaries`, () => {
    for (const limit of [0, 1, 65_535, 65_536, 65_537, 131_072, plain.length - 1, plain.length, plain.length + 1, 1e9]) {
      expect(Buffer.compare(prefix(packed, limit), plain.subarray(0, limit))).toBe(0)
    }
  })

  it(`${name}: ignores bytes after the end of the stream`, () => {
    expect(Buffer.compare(prefix(concatBytes(packed, prose(500)), 1e9), plain)).toBe(0)
  })

  it(`${name}: a stream truncated at any byte decodes as with the reference decoder`, () => {
    const short = compress(concatBytes(plain.subarray(0, 900), new Uint8Array(300), plain.subarray(0, 300)))
    for (let cut = 0; cut <= short.length; cut++) {
      expect(Buffer.from(prefix(short.subarray(0, cut), 1e9)), `cut at ${cut}`).toEqual(oracle(short.subarray(0, cut)) ?? Buffer.alloc(0))
    }
  })

  it(`${name}: any data, truncated and limited anywhere, decodes to the first bytes of the reference output`, () => {
    const samples = fc.oneof(fc.uint8Array({ maxLength: 3000 }), fc.array(fc.constantFrom(0, 1, 255), { maxLength: 9000 }))
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(10_000), (data, share, limit) => {
        const stream = compress(Uint8Array.from(data))
        const cut = stream.subarray(0, Math.ceil(stream.length * share))
        expect(Buffer.from(prefix(cut, limit))).toEqual((oracle(cut) ?? Buffer.alloc(0)).subarray(0, limit))
      }),
      { numRuns: 150 },
    )
  })

  it(`${name}: with one byte changed, returns at least the output of the bytes before it and at most the decodable output`, () => {
    fc.assert(
      fc.property(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const corrupt = Uint8Array.from(packed)
        corrupt[at] = (corrupt[at] ?? 0) ^ flip
        const got = prefix(corrupt, 1e9)
        const sound = oracle(packed.subarray(0, at)) ?? Buffer.alloc(0)
        expect(Buffer.compare(got.subarray(0, sound.length), sound)).toBe(0)
        const whole = oracle(corrupt)
        if (whole) expect(Buffer.compare(got, whole)).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  it(`${name}: returns the output of the longest valid prefix of a corrupt stream`, () => {
    const small = compress(plain.subarray(0, 2000))
    for (let at = 0; at < small.length; at += 29) {
      const corrupt = Uint8Array.from(small)
      corrupt[at] = (corrupt[at] ?? 0) ^ 0x5a
      let end = corrupt.length
      while (end > 0 && oracle(corrupt.subarray(0, end)) === undefined) end--
      const valid = oracle(corrupt.subarray(0, end)) ?? Buffer.alloc(0)
      const got = prefix(corrupt, 1e9)
      expect(Buffer.compare(got.subarray(0, valid.length), valid), `byte ${at}`).toBe(0)
      // symbols that end inside the corrupt byte may or may not be decoded
      expect(got.length - valid.length, `byte ${at}`).toBeLessThanOrEqual(300)
    }
  })

  it(`${name}: empty input and invalid streams return little or nothing and never throw`, () => {
    expect(prefix(new Uint8Array(0), 100)).toHaveLength(0)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(prefix(bytes, 1000).length).toBeLessThanOrEqual(1000)
      }),
      { numRuns: 300 },
    )
  })

  it(`${name}: a bomb of 32 MiB is decompressed only up to the limit`, () => {
    const bomb = compress(new Uint8Array(32 << 20))
    const before = process.memoryUsage().arrayBuffers
    const got = prefix(bomb, 1_000_000)
    expect(got).toHaveLength(1_000_000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20)
  })
})

it('lib/decompress zlib: returns nothing for bad check bits, another method, a window above 32 KiB or a preset dictionary', () => {
  const packed = deflateSync(plain.subarray(0, 100))
  const dictionary = deflateSync(plain.subarray(0, 100), { dictionary: Buffer.from(plain.subarray(0, 50)) })
  const headers = [[0x78, 0xdb], [0x79, 0xda], [0x7f, 0xda], [0x88, 0x1c], [0x78]]
  for (const head of headers) expect(decompressPrefix('zlib', Uint8Array.from([...head, ...packed.subarray(2)]), 1000)).toHaveLength(0)
  expect(decompressPrefix('zlib', dictionary, 1000)).toHaveLength(0)
  expect(decompressPrefix('zlib', packed, 1000)).toEqual(plain.subarray(0, 100))
})

it('lib/decompress zlib: returns the whole output when the checksum is wrong', () => {
  const packed = deflateSync(plain)
  packed[packed.length - 1] = (packed[packed.length - 1] ?? 0) ^ 1
  expect(Buffer.compare(decompressPrefix('zlib', packed, 1e9), plain)).toBe(0)
})

it('lib/decompress brotli: returns nothing for a large-window stream', () => {
  const params = { [constants.BROTLI_PARAM_LARGE_WINDOW]: 1, [constants.BROTLI_PARAM_LGWIN]: 26 }
  expect(decompressPrefix('brotli', brotliCompressSync(plain, { params }), 1000)).toHaveLength(0)
})

it.each(['zlib', 'brotli'] as const)('lib/compress: decompressPrefix restores the output of compress by %s', async (compression) => {
  for (const bytes of [plain, new Uint8Array(0)]) {
    expect(Buffer.compare(decompressPrefix(compression, await compress(compression, bytes, 'best'), 1e9), bytes)).toBe(0)
  }
})

import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { ByteList } from '../results/byteList.ts'
import type { Reply } from './reply.ts'

/** Smaller answers are sent uncompressed: compression would cost more than it saves. */
const zipFromBytes = 32_768

/** Fastest level: chain JSON is mostly hex, which higher levels hardly compress further. */
const level = 1

/**
 * Size of the buffers for an answer's compressed bytes, about one for each. The default of 16 kB would leave the heap of glibc full of holes after large
 * answers; buffers of 1 MiB have their own pages, which return to the system (`MALLOC_MMAP_THRESHOLD_` in `bin/launch.js`).
 */
const chunkBytes = (length: number): number => Math.min(2 ** 20, Math.max(16_384, length >> 2))

const gzipAsync = promisify(gzip)

/** Whether an Accept-Encoding header allows gzip. @see RFC 9110, section 12.5.3 */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return (name === 'gzip' || name === '*') && (weight === undefined || Number(weight.slice(2)) > 0)
  })
}

/** Compresses a body in the thread pool. A lazy one is encoded chunk by chunk, so only its compressed bytes are in memory as a whole. */
async function zipped(body: string | ByteList): Promise<ByteList> {
  const options = { level, chunkSize: chunkBytes(body.length) }
  if (typeof body === 'string' || !body.isLazy) {
    return new ByteList([await gzipAsync(typeof body === 'string' ? Buffer.from(body, 'utf8') : body.joined(), options)])
  }
  const packed: Buffer[] = []
  await pipeline(Readable.from(body.pieces()), createGzip(options), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) packed.push(chunk)
  })
  return new ByteList(packed)
}

/** Compresses a large answer when the client accepts gzip; returns any other answer unchanged. */
export function zippedFor(acceptEncoding: string | undefined, reply: Reply): Reply | Promise<Reply> {
  const { body, headers } = reply
  if (body.length < zipFromBytes || acceptEncoding === undefined || !acceptsGzip(acceptEncoding)) return reply
  return zipped(body).then((packed) => ({
    ...reply,
    body: packed,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
  }))
}

import { Buffer } from 'node:buffer'

/** Head of a POST request; header names in lower case. */
export type PlainHead = {
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  /** bytes of the head, with the empty line */
  readonly length: number
  readonly bodyLength: number
}

const maxHeadBytes = 4_096
const maxBodyBytes = 65_536

const post = Array.from('POST /', (char) => char.charCodeAt(0))

/** Headers that do not change how a request is read. A request with any other header is not plain. */
const plainHeaders: ReadonlySet<string> = new Set([
  ...['host', 'content-type', 'content-length', 'connection', 'accept', 'accept-encoding', 'accept-language', 'user-agent'],
  ...['cache-control', 'pragma', 'sec-fetch-mode', 'x-api-key', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip'],
  ...['x-forwarded-port', 'x-forwarded-scheme', 'x-scheme', 'x-request-id', 'traceparent', 'tracestate', 'authorization'],
])

const requestLine = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/
const headerLine = /^([A-Za-z0-9-]+):[ \t]*([\x20-\x7e]*?)[ \t]*$/
const bodyLengthText = /^\d{1,5}$/
const maxLengthDigits = 5

/**
 * Parses the head of a request as JSON-RPC clients usually send it: HTTP/1.1 POST, body length known and at most 64 KiB, keep-alive, headers of a
 * short list, each at most once, in printable ASCII. Deliberately strict: a whole HTTP parser handles everything else.
 * @returns undefined for any other request, or when the head is incomplete
 */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  if (bytes.length < post.length || post.some((code, at) => bytes[at] !== code)) return undefined
  const end = bytes.subarray(0, maxHeadBytes).indexOf('\r\n\r\n', 0, 'latin1')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const target = requestLine.exec(first)?.[1]
  if (target === undefined) return undefined
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? []
    const key = name.toLowerCase()
    if (!plainHeaders.has(key) || headers.has(key)) return undefined
    headers.set(key, value)
  }
  const lengthText = headers.get('content-length') ?? ''
  const bodyLength = bodyLengthText.test(lengthText) ? Number(lengthText) : Number.POSITIVE_INFINITY
  const stays = (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive'
  if (!stays || !headers.has('host') || bodyLength > maxBodyBytes) return undefined
  return { target, headers, length: end + 4, bodyLength }
}

const [zero, nine] = [0x30, 0x39]

/** A parsed head. The next head of a client is mostly equal except for the body length; `match` then skips parsing. */
export class KnownHead {
  readonly #before: Buffer
  readonly #after: Buffer
  #head: PlainHead

  /** @param bytes that begin with the head */
  constructor(bytes: Buffer, head: PlainHead) {
    const text = bytes.toString('latin1', 0, head.length)
    const [line = '', digits = ''] = /\r\ncontent-length:[ \t]*(\d+)/i.exec(text) ?? []
    const lengthAt = text.indexOf(line) + line.length - digits.length
    this.#before = Buffer.from(bytes.subarray(0, lengthAt))
    this.#after = Buffer.from(bytes.subarray(lengthAt + digits.length, head.length))
    this.#head = head
  }

  /** The head at the beginning of `bytes` when it equals the known head except for the body length. */
  match(bytes: Buffer): PlainHead | undefined {
    const [before, after] = [this.#before, this.#after]
    if (bytes.length < before.length || bytes.compare(before, 0, before.length, 0, before.length) !== 0) return undefined
    let at = before.length
    let bodyLength = 0
    for (let code = bytes[at] ?? 0; code >= zero && code <= nine && bodyLength <= maxBodyBytes; code = bytes[++at] ?? 0) {
      bodyLength = bodyLength * 10 + code - zero
    }
    const length = at + after.length
    const digits = at - before.length
    const isSame =
      digits >= 1 && digits <= maxLengthDigits && bytes.length >= length && bytes.compare(after, 0, after.length, at, length) === 0
    if (!isSame || bodyLength > maxBodyBytes) return undefined
    if (bodyLength !== this.#head.bodyLength || length !== this.#head.length) this.#head = { ...this.#head, bodyLength, length }
    return this.#head
  }
}

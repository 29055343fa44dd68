import { type Cipheriv, createCipheriv } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, equalBytes } from '#lib/bytes'
import type { FrameSecrets } from './handshake.ts'

const blockBytes = 16
/** Largest body: its length has three bytes. */
export const maxFrameBytes: number = 2 ** 24 - 1

const padded = (length: number): number => Math.ceil(length / blockBytes) * blockBytes

/** Thrown when the bytes of a peer fail their checksum, or exceed a bound. */
export class FrameError extends Error {}

/** Running checksum of one direction. @see devp2p rlpx.md, "MAC" */
class FrameMac {
  readonly #keccak = keccak_256.create()
  readonly #aes: Cipheriv
  /** checksum of all bytes so far */
  #sum: Uint8Array

  constructor(secret: Uint8Array, first: Uint8Array) {
    this.#aes = createCipheriv('aes-256-ecb', secret, null).setAutoPadding(false)
    this.#sum = this.#add(first)
  }

  #add(bytes: Uint8Array): Uint8Array {
    this.#sum = this.#keccak.update(bytes).clone().digest().subarray(0, blockBytes)
    return this.#sum
  }

  /** Adds 16 bytes, encrypted with the checksum before them. @returns the new checksum */
  #mix(bytes: Uint8Array): Uint8Array {
    const mixed = this.#aes.update(this.#sum)
    for (let i = 0; i < blockBytes; i++) mixed[i] = (mixed[i] ?? 0) ^ (bytes[i] ?? 0)
    return this.#add(mixed)
  }

  header(encrypted: Uint8Array): Uint8Array {
    return this.#mix(encrypted)
  }

  body(encrypted: Uint8Array): Uint8Array {
    return this.#mix(this.#add(encrypted))
  }
}

const zeroIv = new Uint8Array(blockBytes)

/** Encrypts frames in the order in which they are sent. */
export class FrameWriter {
  readonly #cipher: Cipheriv
  readonly #mac: FrameMac

  constructor({ aes, mac, egress }: FrameSecrets) {
    this.#cipher = createCipheriv('aes-256-ctr', aes, zeroIv)
    this.#mac = new FrameMac(mac, egress)
  }

  /** @throws RangeError above the largest body */
  write(body: Uint8Array): Uint8Array {
    const { length } = body
    if (length > maxFrameBytes) throw new RangeError(`a frame of ${length} bytes`)
    const head = new Uint8Array(blockBytes)
    head.set([length >> 16, (length >> 8) & 0xff, length & 0xff, 0xc2, 0x80, 0x80])
    const encryptedHead = this.#cipher.update(head)
    const headMac = this.#mac.header(encryptedHead)
    const encrypted = this.#cipher.update(padded(length) === length ? body : concatBytes(body, new Uint8Array(padded(length) - length)))
    return concatBytes(encryptedHead, headMac, encrypted, this.#mac.body(encrypted))
  }
}

/** Decrypts frames. Received bytes wait here until their frame is complete; no more than one frame of the allowed length waits. */
export class FrameReader {
  readonly #cipher: Cipheriv
  readonly #mac: FrameMac
  readonly #maxBytes: () => number
  #chunks: Uint8Array[] = []
  #received = 0
  /** length of the body that follows; undefined: a header follows */
  #length: number | undefined

  /** @param maxBytes largest body allowed at this moment */
  constructor({ aes, mac, ingress }: FrameSecrets, maxBytes: () => number) {
    this.#cipher = createCipheriv('aes-256-ctr', aes, zeroIv)
    this.#mac = new FrameMac(mac, ingress)
    this.#maxBytes = maxBytes
  }

  push(bytes: Uint8Array): void {
    this.#chunks.push(bytes)
    this.#received += bytes.length
  }

  /** Returns whether part of a frame has arrived. */
  get isInFrame(): boolean {
    return this.#received > 0 || this.#length !== undefined
  }

  /** Returns the body of the next frame; undefined: more bytes are needed. @throws FrameError */
  next(): Uint8Array | undefined {
    if (this.#length === undefined) {
      const head = this.#take(2 * blockBytes)
      if (head === undefined) return undefined
      this.#length = this.#openHead(head)
    }
    const bytes = padded(this.#length)
    const body = this.#take(bytes + blockBytes)
    if (body === undefined) return undefined
    const encrypted = body.subarray(0, bytes)
    if (!equalBytes(this.#mac.body(encrypted), body.subarray(bytes))) throw new FrameError('wrong checksum of a frame')
    const plain = this.#cipher.update(encrypted).subarray(0, this.#length)
    this.#length = undefined
    return plain
  }

  #openHead(head: Uint8Array): number {
    const encrypted = head.subarray(0, blockBytes)
    if (!equalBytes(this.#mac.header(encrypted), head.subarray(blockBytes))) throw new FrameError('wrong checksum of a frame header')
    const [a = 0, b = 0, c = 0] = this.#cipher.update(encrypted)
    const length = a * 65_536 + b * 256 + c
    if (length === 0 || length > this.#maxBytes()) throw new FrameError(`a frame of ${length} bytes`)
    return length
  }

  #take(count: number): Uint8Array | undefined {
    if (this.#received < count) return undefined
    const all = this.#chunks.length === 1 ? this.#chunks[0] : concatBytes(...this.#chunks)
    if (all === undefined) return undefined
    const rest = all.subarray(count)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#received = rest.length
    return all.subarray(0, count)
  }
}

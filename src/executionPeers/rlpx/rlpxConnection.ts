import type { Socket } from 'node:net'
import { concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import { RateLimit } from '#lib/peers/rateLimit'
import { decodeSnappyBlock, encodeSnappyBlock } from '#lib/peers/snappy'
import { encodeRlp, rlpHead, rlpScalar } from '#lib/rlp'
import {
  baseMessage,
  baseMessageCount,
  type Capability,
  type DisconnectReason,
  decodeDisconnect,
  decodeHello,
  encodeDisconnect,
  encodeHello,
  type Hello,
  snappyVersion,
} from './baseMessages.ts'
import { FrameError, FrameReader, FrameWriter, maxFrameBytes } from './frames.ts'
import { type Ack, createRandom, deriveSecrets, HandshakeError, openAck, openAuth, packetLength, sealAck, sealAuth } from './handshake.ts'

/** Largest message after decompression. */
export const maxMessageBytes: number = 10 * 2 ** 20
/** Largest message of the base protocol. */
const maxBaseBytes = 2_048
/** Time from the connection to the peer's Hello, time for a frame to arrive, time for written bytes to leave, pause between two pings. */
const [handshakeMs, frameMs, writeMs, pingMs, silentMs] = [8_000, 30_000, 20_000, 15_000, 45_000]
const checkMs = 2_000
/** Messages a second that a peer may send, and at once: each costs two checksums. Honest peers send tens. */
const messages = { perSec: 200, burst: 1_000 }
/** Bytes that wait for a slow reader before nothing more of it is read, and before it is dropped. */
const [pauseBytes, maxWaitingBytes] = [2 * 2 ** 20, 24 * 2 ** 20]

export type ConnectionOptions = {
  readonly privateKey: Uint8Array
  readonly hello: Hello
  /** public key of the dialled node; absent: the peer has dialled */
  readonly remote?: Uint8Array
}

/** Why a connection ended. */
export type Ended = { readonly reason: DisconnectReason; readonly by: 'peer' | 'us'; readonly why: string }

export type ConnectionEvents = {
  /** Called with the peer's Hello. Messages of capabilities follow. */
  onHello(hello: Hello): void
  /** Called with each message of a capability, decompressed. */
  onMessage(id: number, body: Uint8Array): void
  /** Called once. */
  onEnd(ended: Ended): void
  /** Returns the largest compressed message that the peer may send now. */
  maxBytes(): number
  /** Returns the largest decompressed body of a message; 0: the message is dropped without decompression. */
  maxBodyBytes(id: number): number
}

type Phase = 'auth' | 'ack' | 'hello' | 'open' | 'ended'

/** One RLPx connection over a socket: handshake, Hello, frames, pings. All that waits is bounded in bytes and in time. */
export class RlpxConnection {
  readonly #clock: Clock
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #events: ConnectionEvents
  readonly #random = createRandom()
  readonly #messages: RateLimit
  readonly #startMs: number
  #phase: Phase
  #received: Uint8Array = emptyBytes
  #sentAuth: Uint8Array = emptyBytes
  #publicKey: Uint8Array | undefined
  #reader: FrameReader | undefined
  #writer: FrameWriter | undefined
  #isCompressed = false
  #timer: Disposable | undefined
  #heardMs: number
  #pingedMs: number
  #frameSinceMs: number | undefined
  #blockedSinceMs: number | undefined
  receivedBytes = 0
  sentBytes = 0

  constructor(clock: Clock, socket: Socket, options: ConnectionOptions, events: ConnectionEvents) {
    this.#clock = clock
    this.#messages = new RateLimit(clock, messages.perSec, messages.burst)
    this.#socket = socket
    this.#options = options
    this.#events = events
    const nowMs = clock.elapsedMs()
    this.#startMs = nowMs
    this.#heardMs = nowMs
    this.#pingedMs = nowMs
    this.#publicKey = options.remote
    this.#phase = options.remote ? 'ack' : 'auth'
    socket.setNoDelay(true)
    socket.on('data', (bytes) => this.#run(() => this.#onData(bytes)))
    socket.on('error', (error) => this.#end({ reason: 'network_error', by: 'us', why: error.message }))
    socket.on('close', () => this.#end({ reason: 'network_error', by: 'peer', why: 'the connection was closed' }))
    socket.on('drain', () => this.#onDrain())
    this.#plan()
  }

  /** Public key of the peer; undefined before it is known. */
  get publicKey(): Uint8Array | undefined {
    return this.#publicKey
  }

  /** Sends the first packet to the dialled node. */
  begin(): void {
    const { remote, privateKey } = this.#options
    if (remote === undefined) return
    this.#run(() => {
      this.#sentAuth = sealAuth(privateKey, remote, this.#random)
      this.#write(this.#sentAuth)
    })
  }

  /** Sends a message of a capability. Has no effect after the end. */
  send(id: number, body: Uint8Array): void {
    if (this.#phase === 'open') this.#sendFrame(id, body)
  }

  /** Returns whether the peer reads slower than it is answered: nothing more of it is read until it does. */
  get isBlocked(): boolean {
    return this.#blockedSinceMs !== undefined
  }

  disconnect(reason: DisconnectReason, why: string): void {
    if (this.#phase === 'ended') return
    if (this.#writer) this.#sendFrame(baseMessage.disconnect, encodeDisconnect(reason))
    this.#end({ reason, by: 'us', why })
  }

  /** Reports errors of hostile input as the end of this connection. */
  #run(step: () => void): void {
    if (this.#phase === 'ended') return
    try {
      step()
    } catch (error) {
      const isExpected = error instanceof FrameError || error instanceof HandshakeError
      this.disconnect(isExpected || this.#phase !== 'open' ? 'protocol_error' : 'subprotocol_error', errorMessage(error))
    }
  }

  #plan(): void {
    this.#timer = this.#clock.after(checkMs, () => {
      this.#check()
      if (this.#phase !== 'ended') this.#plan()
    })
  }

  #check(): void {
    const nowMs = this.#clock.elapsedMs()
    const isLate = (sinceMs: number | undefined, maxMs: number): boolean => sinceMs !== undefined && nowMs - sinceMs > maxMs
    if (this.#phase !== 'open') {
      if (isLate(this.#startMs, handshakeMs)) this.disconnect('timeout', 'no handshake in time')
    } else if (isLate(this.#frameSinceMs, frameMs)) this.disconnect('timeout', 'a message did not arrive in time')
    else if (isLate(this.#blockedSinceMs, writeMs)) this.disconnect('timeout', 'the peer does not read')
    else if (isLate(this.#heardMs, silentMs) && !this.isBlocked) this.disconnect('timeout', 'the peer is silent')
    else if (isLate(this.#pingedMs, pingMs)) {
      this.#pingedMs = nowMs
      this.#sendFrame(baseMessage.ping, encodeRlp([]))
    }
  }

  #onData(bytes: Uint8Array): void {
    this.receivedBytes += bytes.length
    if (this.#reader) {
      this.#reader.push(bytes)
      return void this.#readFrames()
    }
    this.#received = concatBytes(this.#received, bytes)
    const length = packetLength(this.#received)
    if (length === undefined || this.#received.length < length) return
    const packet = this.#received.subarray(0, length)
    const rest = this.#received.subarray(length)
    this.#received = emptyBytes
    if (this.#phase === 'auth') this.#onAuth(packet)
    else this.#onAck(packet)
    if (rest.length > 0) this.#onData(rest)
  }

  #onAuth(auth: Uint8Array): void {
    const { privateKey } = this.#options
    const peer = openAuth(privateKey, auth)
    this.#publicKey = peer.publicKey
    const ack = sealAck(peer.publicKey, this.#random)
    this.#write(ack)
    this.#startFrames('recipient', peer, { auth, ack })
  }

  #onAck(ack: Uint8Array): void {
    this.#startFrames('initiator', openAck(this.#options.privateKey, ack), { auth: this.#sentAuth, ack })
  }

  #startFrames(side: 'initiator' | 'recipient', peer: Ack, packets: { readonly auth: Uint8Array; readonly ack: Uint8Array }): void {
    const secrets = deriveSecrets(side, this.#random, peer, packets)
    this.#reader = new FrameReader(secrets, () =>
      this.#phase === 'open' ? Math.min(maxFrameBytes, this.#events.maxBytes()) : maxBaseBytes,
    )
    this.#writer = new FrameWriter(secrets)
    this.#phase = 'hello'
    this.#sendFrame(baseMessage.hello, encodeHello(this.#options.hello))
  }

  #readFrames(): void {
    const reader = this.#reader
    while (reader && !this.#isEnded && !this.isBlocked) {
      const body = reader.next()
      if (body === undefined) break
      this.#heardMs = this.#clock.elapsedMs()
      this.#frameSinceMs = undefined
      this.#onFrame(body)
    }
    if (reader?.isInFrame) this.#frameSinceMs ??= this.#clock.elapsedMs()
  }

  get #isEnded(): boolean {
    return this.#phase === 'ended'
  }

  #onFrame(frame: Uint8Array): void {
    if (this.#messages.take() > 0) throw new FrameError(`more than ${messages.perSec} messages a second`)
    const { isList, from, to } = rlpHead(frame, 0)
    if (isList || to - from > 1) throw new FrameError('a message without an id')
    const id = to === from ? 0 : (frame[from] ?? 0)
    const packed = frame.subarray(to)
    if (id === baseMessage.hello && this.#phase === 'hello') return void this.#onHello(packed)
    const maxBytes = id < baseMessageCount ? maxBaseBytes : this.#events.maxBodyBytes(id)
    if (maxBytes === 0) return
    const body = this.#isCompressed ? decodeSnappyBlock(packed, maxBytes) : packed
    if (id === baseMessage.disconnect) {
      // some clients do not compress it
      return void this.#end({ reason: decodeDisconnect(body ?? packed), by: 'peer', why: 'the peer has ended the connection' })
    }
    if (body === undefined || body.length > maxBytes) throw new FrameError('a message is not compressed well, or too large')
    if (this.#phase !== 'open') throw new FrameError('a message before the Hello')
    if (id === baseMessage.ping) this.#sendFrame(baseMessage.pong, encodeRlp([]))
    else if (id >= baseMessageCount) this.#events.onMessage(id, body)
  }

  #onHello(body: Uint8Array): void {
    const hello = decodeHello(body)
    if (!this.#publicKey || !equalBytes(hello.id, this.#publicKey))
      return void this.disconnect('invalid_identity', 'the Hello has another key')
    this.#isCompressed = hello.version >= snappyVersion
    this.#phase = 'open'
    this.#events.onHello(hello)
  }

  #sendFrame(id: number, body: Uint8Array): void {
    if (this.#writer === undefined || this.#isEnded) return
    this.#write(this.#writer.write(concatBytes(encodeRlp(rlpScalar(id)), this.#isCompressed ? encodeSnappyBlock(body) : body)))
  }

  #write(bytes: Uint8Array): void {
    this.sentBytes += bytes.length
    this.#socket.write(bytes)
    if (this.#socket.writableLength > maxWaitingBytes) return void this.#end({ reason: 'timeout', by: 'us', why: 'the peer does not read' })
    if (this.#socket.writableLength > pauseBytes && !this.isBlocked) {
      this.#blockedSinceMs = this.#clock.elapsedMs()
      this.#socket.pause()
    }
  }

  #onDrain(): void {
    if (!this.isBlocked) return
    this.#blockedSinceMs = undefined
    this.#socket.resume()
    this.#run(() => this.#readFrames())
  }

  #end(ended: Ended): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    this.#timer?.[Symbol.dispose]()
    // what was written leaves first, for a moment
    this.#socket.end()
    this.#clock.after(500, () => this.#socket.destroy())
    this.#received = emptyBytes
    this.#events.onEnd(ended)
  }
}

/** Returns the highest version of a capability that both sides have; undefined: none. */
export function sharedVersion(name: string, ours: readonly Capability[], theirs: readonly Capability[]): number | undefined {
  const both = ours.filter((own) => own.name === name && theirs.some((other) => other.name === name && other.version === own.version))
  return both.length === 0 ? undefined : Math.max(...both.map(({ version }) => version))
}

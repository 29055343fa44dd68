import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Hash } from '#types/ids'
import {
  type BlockRange,
  decodeRange,
  decodeResponse,
  decodeStatus,
  type EthVersion,
  encodeGetHeaders,
  encodeHashes,
  encodeRange,
  encodeResponse,
  encodeStatus,
  ethMessage,
  type HeadersQuery,
  isEthVersion,
  type Status,
} from '../eth/messages.ts'
import { baseMessageCount, type DisconnectReason, type Hello } from '../rlpx/baseMessages.ts'
import { type ConnectionOptions, type Ended, maxMessageBytes, RlpxConnection, sharedVersion } from '../rlpx/rlpxConnection.ts'
import { idOfKey } from './nodeId.ts'

/** This node's side of the Status exchange. */
export interface LocalChain {
  status(version: EthVersion): Status
  /** Returns why a peer with this Status is of no use; undefined: it is on the same chain. */
  refusal(status: Status): string | undefined
}

export type PeerEvents = {
  /** Called with the peer's key before its Hello is answered; returns why it is refused. */
  admit(peer: EthPeer): { readonly reason: DisconnectReason; readonly why: string } | undefined
  /** Called when both Status messages are exchanged. */
  onReady(peer: EthPeer): void
  /** Called with a request for blocks; the answer is sent with `reply`. */
  onRequest(peer: EthPeer, message: number, body: Uint8Array): void
  onEnd(peer: EthPeer, ended: Ended): void
}

/** Time for a response, for the Status. */
const [responseMs, statusMs] = [10_000, 5_000]
/** Largest compressed message that answers no request: announcements of transactions, requests. */
const maxUnsolicitedBytes = 2 ** 20
const maxResponseItems = 1_024

/** Thrown when a peer does not answer in time, ends, or answers what was not asked. */
class PeerError extends Error {}

type Waiting = {
  readonly id: number
  readonly message: number
  readonly resolve: (items: readonly Uint8Array[]) => void
  readonly reject: (error: Error) => void
  readonly timer: Disposable
}

const responseTo: Readonly<Record<number, number>> = {
  [ethMessage.getBlockHeaders]: ethMessage.blockHeaders,
  [ethMessage.getBlockBodies]: ethMessage.blockBodies,
  [ethMessage.getReceipts]: ethMessage.receipts,
}
/** Largest message of each kind after decompression; others are not read. Decoding one takes many times its bytes, so none may have more than it needs. */
const maxBytesOf: Readonly<Record<number, number>> = {
  [ethMessage.status]: 1_024,
  [ethMessage.blockRangeUpdate]: 1_024,
  [ethMessage.getBlockHeaders]: 1_024,
  [ethMessage.getBlockBodies]: 2 ** 18,
  [ethMessage.getReceipts]: 2 ** 18,
  [ethMessage.getPooledTransactions]: 2 ** 18,
  [ethMessage.blockHeaders]: maxMessageBytes,
  [ethMessage.blockBodies]: maxMessageBytes,
  [ethMessage.receipts]: maxMessageBytes,
}

/** A peer with the `eth` capability, from the first byte on. One request at a time waits for its response. */
export class EthPeer {
  readonly #clock: Clock
  readonly #chain: LocalChain
  readonly #events: PeerEvents
  readonly #connection: RlpxConnection
  readonly direction: 'inbound' | 'outbound'
  readonly #socket: Socket
  /** address, kept after the end */
  #address = { host: '', port: 0 }
  #version: EthVersion | undefined
  #client = ''
  #theirs: Hello | undefined
  #range: BlockRange | undefined
  #waiting: Waiting | undefined
  #lastId = 0
  #statusTimer: Disposable | undefined
  #isReady = false

  constructor(deps: { readonly clock: Clock; readonly chain: LocalChain }, socket: Socket, options: ConnectionOptions, events: PeerEvents) {
    const { clock, chain } = deps
    this.#clock = clock
    this.#chain = chain
    this.#events = events
    this.direction = options.remote ? 'outbound' : 'inbound'
    this.#socket = socket
    this.#connection = new RlpxConnection(clock, socket, options, {
      onHello: (hello): void => this.#onHello(options.hello, hello),
      onMessage: (id, body): void => this.#onMessage(id - baseMessageCount, body),
      onEnd: (ended): void => this.#onEnd(ended),
      maxBytes: (): number => (this.#waiting ? maxMessageBytes : maxUnsolicitedBytes),
      maxBodyBytes: (id): number => maxBytesOf[id - baseMessageCount] ?? 0,
    })
    this.#connection.begin()
  }

  /** Public key in hex; empty before the handshake. */
  get id(): string {
    return this.#connection.publicKey ? idOfKey(this.#connection.publicKey) : ''
  }

  get host(): string {
    return this.address.host
  }

  get address(): { readonly host: string; readonly port: number } {
    const { remoteAddress: host, remotePort: port } = this.#socket
    if (host !== undefined && port !== undefined) this.#address = { host, port }
    return this.#address
  }

  get client(): string {
    return this.#client
  }

  get hello(): Hello | undefined {
    return this.#theirs
  }

  get version(): EthVersion | undefined {
    return this.#version
  }

  /** Blocks that the peer serves; undefined in eth/68. */
  get range(): BlockRange | undefined {
    return this.#range
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get isBusy(): boolean {
    return this.#waiting !== undefined
  }

  get isBlocked(): boolean {
    return this.#connection.isBlocked
  }

  get bytes(): { readonly received: number; readonly sent: number } {
    return { received: this.#connection.receivedBytes, sent: this.#connection.sentBytes }
  }

  disconnect(reason: DisconnectReason, why: string): void {
    this.#connection.disconnect(reason, why)
  }

  /** Announces the blocks that this node serves; only eth/69 has the message. */
  announce(range: BlockRange): void {
    if (this.#isReady && this.#version === 69) this.#send(ethMessage.blockRangeUpdate, encodeRange(range))
  }

  /** Returns encoded headers. @throws PeerError */
  headers(query: HeadersQuery): Promise<readonly Uint8Array[]> {
    return this.#request(ethMessage.getBlockHeaders, (id) => encodeGetHeaders(id, query))
  }

  /** Returns encoded bodies. @throws PeerError */
  bodies(hashes: readonly Hash[]): Promise<readonly Uint8Array[]> {
    return this.#request(ethMessage.getBlockBodies, (id) => encodeHashes(id, hashes))
  }

  /** Sends the answer of a request. @param message of the request */
  reply(message: number, id: bigint, items: readonly Uint8Array[]): void {
    const response = responseTo[message]
    if (response !== undefined) this.#send(response, encodeResponse(id, items))
  }

  /** Answers a request for transactions: there are none. */
  replyTransactions(id: bigint): void {
    this.#send(ethMessage.pooledTransactions, encodeResponse(id, []))
  }

  #request(message: number, encode: (id: number) => Uint8Array): Promise<readonly Uint8Array[]> {
    if (!this.#isReady) return Promise.reject(new PeerError('the peer has ended'))
    if (this.#waiting) return Promise.reject(new PeerError('the peer has a request already'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(responseMs, () => this.disconnect('timeout', 'no response in time'))
      this.#waiting = { id, message, resolve, reject, timer }
      this.#send(message, encode(id))
    })
  }

  #send(message: number, body: Uint8Array): void {
    this.#connection.send(baseMessageCount + message, body)
  }

  #onHello(ours: Hello, theirs: Hello): void {
    this.#client = theirs.client
    this.#theirs = theirs
    // reads the address while the socket has it
    void this.address
    const refused = this.#events.admit(this)
    if (refused) return void this.disconnect(refused.reason, refused.why)
    const version = sharedVersion('eth', ours.capabilities, theirs.capabilities)
    if (!isEthVersion(version)) return void this.disconnect('useless_peer', 'no version of eth that both sides have')
    this.#version = version
    this.#statusTimer = this.#clock.after(statusMs, () => this.disconnect('timeout', 'no Status in time'))
    this.#send(ethMessage.status, encodeStatus(this.#chain.status(version)))
  }

  #onMessage(message: number, body: Uint8Array): void {
    if (this.#version === undefined) return
    if (!this.#isReady) return void this.#onStatus(this.#version, message, body)
    switch (message) {
      case ethMessage.status:
        return void this.disconnect('protocol_error', 'a second Status')
      case ethMessage.blockHeaders:
      case ethMessage.blockBodies:
      case ethMessage.receipts:
        return void this.#onResponse(message, body)
      case ethMessage.blockRangeUpdate:
        this.#range = decodeRange(body)
        return
      default:
        return void this.#events.onRequest(this, message, body)
    }
  }

  #onStatus(version: EthVersion, message: number, body: Uint8Array): void {
    if (message !== ethMessage.status) return void this.disconnect('protocol_error', 'the first message is no Status')
    const status = decodeStatus(version, body)
    const refusal = this.#chain.refusal(status)
    if (refusal !== undefined) return void this.disconnect('useless_peer', refusal)
    this.#statusTimer?.[Symbol.dispose]()
    this.#range = status.range
    this.#isReady = true
    this.#events.onReady(this)
  }

  #onResponse(message: number, body: Uint8Array): void {
    const waiting = this.#waiting
    const { id, items } = decodeResponse(body, maxResponseItems)
    if (waiting === undefined || responseTo[waiting.message] !== message || id !== BigInt(waiting.id))
      return void this.disconnect('protocol_error', 'a response to no request')
    this.#waiting = undefined
    waiting.timer[Symbol.dispose]()
    waiting.resolve(items)
  }

  #onEnd(ended: Ended): void {
    this.#isReady = false
    this.#statusTimer?.[Symbol.dispose]()
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.timer[Symbol.dispose]()
    waiting?.reject(new PeerError(ended.why))
    this.#events.onEnd(this, ended)
  }
}

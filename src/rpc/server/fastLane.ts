import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Bucket } from '../limits/rateTable.ts'
import { ByteList } from '../results/byteList.ts'
import { type ByteBudget, freeBodyBytes, type Hold } from './body.ts'
import { ShareCaller } from './caller.ts'
import type { ConnectionSlot } from './connectionSlots.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Answer } from './messages.ts'
import { KnownHead, type PlainHead, readPlainHead } from './plainRequest.ts'
import { answered, type Reply, type ReplyHeads } from './reply.ts'
import { TurnWrites } from './turnWrites.ts'
import type { AnswerShare, Unread, UnreadTotal } from './unread.ts'
import { zippedFor } from './zip.ts'

/** A request with its head parsed and its body complete. */
type PlainRequest = {
  readonly head: PlainHead
  readonly body: Buffer
  readonly share: AnswerShare
  readonly bucket: Bucket | undefined
}

export type FastLaneDeps = {
  /** Whether the lane may answer a request with this head. Otherwise node's HTTP server takes over the connection. */
  readonly admits: (head: PlainHead) => boolean
  readonly dispatcher: Dispatcher
  /** The rate-limit bucket of requests with this head; undefined without a limit. */
  readonly bucketOf: (head: PlainHead, socket: Socket) => Bucket | undefined
  /** Takes over a connection for good. The socket first emits all bytes that are not answered yet. */
  readonly handOver: (socket: Socket) => void
  readonly heads: ReplyHeads
  readonly budget: ByteBudget
  readonly unreadTotal: UnreadTotal
  readonly clock: Clock
  readonly log: Log
}

export type FastLaneLimits = {
  readonly maxBodyBytes: number
  /** for a whole request to arrive */
  readonly requestTimeoutMs: number
  /** between two requests, and without traffic in either direction */
  readonly idleTimeoutMs: number
}

/** Bytes that a client may send ahead while one of its calls runs; beyond it the lane stops reading. */
const maxAheadBytes = 65_536
/** Answers of a connection, in bytes, that wait for the end of the turn. */
const maxTextBytes = 65_536
/** Unsent answer bytes of one connection; beyond it the lane starts no further request of that connection. */
const maxUnsentBytes = 16_000_000
/** Bytes of an answer that are written at once; the rest follows when the socket has taken them. */
const writtenBytes = 1_000_000
/** Time after which the pipelined requests of one connection yield to other connections. */
const turnMs = 5

/** The connections that a server serves in its fast lane. */
export interface FastLane {
  accept(socket: Socket, slot: ConnectionSlot): void
  /** Ends idle connections; the others end with their current answer. */
  close(): void
  closeAll(): void
}

/**
 * Answers plain requests straight from the socket's bytes, several times faster than node's HTTP server. The first request of a connection
 * that is not plain moves the connection, with its unanswered bytes, to that server, which implements all of HTTP.
 */
export function createFastLane(deps: FastLaneDeps, limits: FastLaneLimits): FastLane {
  const connections = new Set<LaneConnection>()
  let isClosing = false
  const lane: Lane = {
    ...{ deps, limits, writes: new TurnWrites() },
    get isClosing(): boolean {
      return isClosing
    },
    left: (connection) => void connections.delete(connection),
  }
  return {
    accept(socket, slot): void {
      connections.add(new LaneConnection(socket, slot, lane))
    },
    close(): void {
      isClosing = true
      for (const connection of connections) connection.endIfIdle()
    },
    closeAll(): void {
      for (const connection of connections) connection.destroy()
    },
  }
}

type Lane = {
  readonly deps: FastLaneDeps
  readonly limits: FastLaneLimits
  readonly isClosing: boolean
  readonly left: (connection: LaneConnection) => void
  readonly writes: TurnWrites
}

/** A request whose body has not arrived completely. */
type Partial = { readonly deadline: Disposable; readonly hold: Hold }

/** An answer that is being written. `large`: to dispose of when it is sent */
type Outgoing = { readonly chunks: Iterator<Buffer>; restBytes: number; isLast: boolean; readonly large: Disposable | undefined }

class LaneConnection {
  readonly #socket: Socket
  readonly #slot: ConnectionSlot
  readonly #lane: Lane
  readonly #unread: Unread
  #known: KnownHead | undefined
  #bucket: Bucket | undefined
  /** bytes received and not parsed yet */
  #rest: Buffer = Buffer.alloc(0)
  #partial: Partial | undefined
  /** true while a call runs, the client has to read first, or other connections have their turn */
  #isBusy = false
  #isRunning = false
  #outgoing: Outgoing | undefined
  /** short answers of this turn, in Latin-1 */
  #text = ''
  #unsentBytes = 0

  readonly #onData = (chunk: Buffer): void => this.#receive(chunk)
  readonly #onEnd = (): void => this.#ended()
  readonly #onTimeout = (): void => {
    if (!this.#isRunning) this.destroy()
  }
  readonly #onDrain = (): void => this.#drained()
  readonly #onError = (error: Error): void => this.#lane.deps.log.debug('rpc connection failed', { error })
  readonly #onClose = (): void => this.#leave()

  constructor(socket: Socket, slot: ConnectionSlot, lane: Lane) {
    this.#socket = socket
    this.#slot = slot
    this.#lane = lane
    this.#unread = lane.deps.unreadTotal.join('http', () => socket.destroy())
    socket.setTimeout(lane.limits.requestTimeoutMs)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout).on('drain', this.#onDrain)
    socket.on('error', this.#onError).on('close', this.#onClose)
  }

  endIfIdle(): void {
    if (!this.#isBusy && this.#rest.length === 0) this.#endSoon()
  }

  /** Ends the connection when all answers are sent. */
  #endSoon(): void {
    this.write()
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #leave(): void {
    this.#partial?.deadline[Symbol.dispose]()
    this.#partial?.hold[Symbol.dispose]()
    this.#partial = undefined
    this.#unread[Symbol.dispose]()
    this.#lane.left(this)
  }

  /** The client has closed its half of the connection. */
  #ended(): void {
    if (this.#isRunning) this.destroy()
    else if (this.#outgoing) this.#outgoing.isLast = true
    else this.#endSoon()
  }

  #receive(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.#isBusy) this.#answerAll()
    else if (this.#rest.length > maxAheadBytes) this.#socket.pause()
  }

  /** Answers the requests in the buffer until a call has to be waited for. */
  #answerAll(): void {
    const { clock } = this.#lane.deps
    const begunMs = clock.elapsedMs()
    this.#lane.writes.beforeAnswer(begunMs)
    while (!this.#isBusy && this.#rest.length > 0) {
      const step = this.#answerNext()
      if (step === 'not plain') this.#handOver()
      if (step !== 'answered') return
      if (!this.#isBusy && this.#rest.length > 0 && clock.elapsedMs() - begunMs > turnMs) {
        this.#isBusy = true
        setImmediate(() => this.#goOn())
      }
    }
  }

  #answerNext(): 'answered' | 'not all there' | 'not plain' {
    const { budget, clock } = this.#lane.deps
    const head = this.#headOf(this.#rest)
    if (head === undefined) return 'not plain'
    const hold = this.#partial?.hold ?? budget.hold(freeBodyBytes)
    if (this.#partial === undefined && !hold.take(head.bodyLength)) return 'not plain' // node's HTTP server answers with the error
    if (this.#rest.length < head.length + head.bodyLength) {
      this.#partial ??= { hold, deadline: clock.after(this.#lane.limits.requestTimeoutMs, () => this.destroy()) }
      return 'not all there'
    }
    this.#partial?.deadline[Symbol.dispose]()
    this.#partial = undefined
    this.#answer(head, hold)
    return 'answered'
  }

  #headOf(bytes: Buffer): PlainHead | undefined {
    const { limits, deps } = this.#lane
    const again = this.#known?.match(bytes)
    if (again !== undefined && again.bodyLength <= limits.maxBodyBytes) return again
    const head = readPlainHead(bytes)
    if (head === undefined || head.bodyLength > limits.maxBodyBytes || !deps.admits(head)) return undefined
    if (this.#known === undefined) this.#socket.setTimeout(limits.idleTimeoutMs)
    this.#known = new KnownHead(bytes, head)
    this.#bucket = deps.bucketOf(head, this.#socket)
    return head
  }

  #answer(head: PlainHead, hold: Hold): void {
    const end = head.length + head.bodyLength
    const request = { head, body: this.#rest.subarray(head.length, end), share: this.#unread.share(), bucket: this.#bucket }
    this.#rest = this.#rest.subarray(end)
    this.#slot.use()
    const reply = this.#reply(request)
    if (reply instanceof Promise) {
      this.#isBusy = true
      this.#isRunning = true
      this.#slot.begin()
      void reply.then((settled) => this.#settle(request, hold, settled))
    } else this.#send(request, hold, reply)
  }

  /** Returns undefined after an internal error. Never throws or rejects. */
  #reply({ head, body, share, bucket }: PlainRequest): Reply | undefined | Promise<Reply | undefined> {
    const { dispatcher, log } = this.#lane.deps
    const caller = new ShareCaller(share, bucket, this.#socket)
    const replyOf = (answer: Answer | undefined): Reply | Promise<Reply> =>
      zippedFor(head.headers.get('accept-encoding'), answered(answer, caller.tally))
    const failed = (error: unknown): undefined => void log.error('rpc request failed', { error })
    try {
      const answer = dispatcher.answer(body, caller)
      const reply = answer instanceof Promise ? answer.then(replyOf) : replyOf(answer)
      return reply instanceof Promise ? reply.catch(failed) : reply
    } catch (error) {
      return failed(error)
    }
  }

  #settle(request: PlainRequest, hold: Hold, reply: Reply | undefined): void {
    this.#isRunning = false
    this.#isBusy = false
    this.#slot.finish()
    this.#send(request, hold, reply)
    if (!this.#isBusy) this.#goOn()
  }

  #send({ share }: PlainRequest, hold: Hold, reply: Reply | undefined): void {
    const socket = this.#socket
    const isGone = share.isGone || socket.destroyed
    const large = isGone || reply === undefined ? undefined : share.takeLarge()
    share[Symbol.dispose]()
    hold[Symbol.dispose]()
    if (isGone) return
    if (reply === undefined) {
      this.destroy()
      return
    }
    const isLast = reply.isLast === true || this.#lane.isClosing
    const { body } = reply
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const head = this.#lane.deps.heads.head(reply, length, isLast ? 'ends' : 'stays')
    if (typeof body === 'string') {
      this.#writeText(head, body, length)
      this.#finish(isLast, large)
    } else {
      const sent = ByteList.concat([Buffer.from(head, 'latin1'), body])
      this.#outgoing = { chunks: sent.pieces(), restBytes: sent.length, isLast, large }
      this.#writeMore(this.#outgoing)
    }
  }

  #writeText(head: string, body: string, length: number): void {
    const socket = this.#socket
    const encoding = length === body.length ? 'latin1' : 'utf8'
    if (length < maxTextBytes && encoding === 'latin1') {
      const isFirst = this.#text === ''
      this.#text += head + body
      if (isFirst) this.#lane.writes.add(this)
      if (this.#text.length > maxTextBytes) this.write()
      return
    }
    this.write()
    socket.cork()
    socket.write(Buffer.from(head, 'latin1'))
    socket.write(body, encoding)
    socket.uncork()
  }

  /** Writes the short answers of this turn. */
  write(): void {
    if (this.#text === '') return
    if (!this.#socket.destroyed) this.#socket.write(this.#text, 'latin1')
    this.#text = ''
    this.#count()
  }

  /** Writes the next chunks of an answer. A socket that has taken them all calls for more. */
  #writeMore(outgoing: Outgoing): void {
    const socket = this.#socket
    this.write()
    socket.cork()
    let [written, next] = [0, outgoing.chunks.next()]
    for (; next.done !== true; next = outgoing.chunks.next()) {
      socket.write(next.value)
      written += next.value.length
      if (written >= writtenBytes) break
    }
    socket.uncork()
    outgoing.restBytes -= written
    this.#isBusy = outgoing.restBytes > 0
    if (this.#isBusy) {
      this.#count()
      return
    }
    this.#outgoing = undefined
    this.#finish(outgoing.isLast, outgoing.large)
  }

  /** Called when all of an answer is written. */
  #finish(isLast: boolean, large: Disposable | undefined): void {
    const socket = this.#socket
    if (large) socket.write('', () => large[Symbol.dispose]()) // called once all previous writes are sent
    this.#count()
    if (isLast) {
      this.#isBusy = true
      this.#endSoon()
    } else if (socket.writableLength > maxUnsentBytes) this.#isBusy = true
  }

  /** Counts the bytes that the kernel has not accepted as unread. */
  #count(): void {
    const unsent = this.#socket.writableLength + (this.#outgoing?.restBytes ?? 0)
    this.#unread.add(unsent - this.#unsentBytes)
    this.#unsentBytes = unsent
  }

  #drained(): void {
    const wasBusy = this.#isBusy
    if (this.#outgoing) this.#writeMore(this.#outgoing)
    else this.#count()
    if (wasBusy && !this.#isRunning) this.#goOn()
  }

  #goOn(): void {
    if (this.#isRunning || this.#outgoing || this.#socket.destroyed || this.#socket.writableEnded) return
    this.#isBusy = false
    this.#answerAll()
    if (!this.#isBusy && this.#socket.isPaused()) this.#socket.resume()
    if (this.#lane.isClosing) this.endIfIdle()
  }

  /** Moves the connection and its unanswered bytes to node's HTTP server. */
  #handOver(): void {
    const socket = this.#socket
    this.write()
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout).off('drain', this.#onDrain)
    socket.off('error', this.#onError).off('close', this.#onClose)
    socket.setTimeout(0)
    socket.pause()
    this.#leave()
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    this.#isBusy = true
    if (rest.length > 0) socket.unshift(rest)
    this.#lane.deps.handOver(socket)
    socket.resume()
  }
}

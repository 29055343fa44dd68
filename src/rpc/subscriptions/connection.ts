import { randomBytes } from 'node:crypto'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '#lib/clock'
import { toHex } from '#lib/hex'
import type { Log } from '#lib/log'
import type { Subscription, Subscriptions } from '../context.ts'
import { serverBusy } from '../errors.ts'
import type { Bucket } from '../limits/rateTable.ts'
import { costClasses } from '../registry.ts'
import type { ByteBudget } from '../server/body.ts'
import { type Caller, emptyTally, type Peer } from '../server/caller.ts'
import type { ConnectionSlot } from '../server/connectionSlots.ts'
import type { Dispatcher } from '../server/dispatch.ts'
import { type Answer, errorText } from '../server/messages.ts'
import { answerPings } from '../server/pongs.ts'
import type { AnswerShare, Unread, UnreadTotal } from '../server/unread.ts'
import { Backlog } from './backlog.ts'
import { endNotification, type Notification, notificationOfText } from './notification.ts'
import { type FrameSocket, messageBytes, Outbox } from './outbox.ts'
import { type RoomLimits, SubscriptionRoom } from './room.ts'

/** Sender of one message. Subscriptions that it requests start after the answer. */
export type SocketCaller = Caller & { readonly subscriptions: Subscriptions }

export type ConnectionLimits = RoomLimits & {
  /** messages of one connection that are processed at once; beyond it the connection is not read */
  readonly maxRunning: number
  /** unread notifications beyond which the next message ends the connection; changes of the chain wait at half of it */
  readonly maxUnreadBytes: number
  /** unread answers and notifications at which the connection ends */
  readonly maxBufferedBytes: number
  /** for the client to answer the close frame */
  readonly closeTimeoutMs: number
}

export type ConnectionDeps = {
  readonly dispatcher: Dispatcher<SocketCaller>
  /** bytes of the messages being processed, over all connections */
  readonly budget: ByteBudget
  /** budget of the filters and subscriptions of the thread */
  readonly subscriptionBudget: ByteBudget
  /** unread answers of all connections of the server */
  readonly unreadTotal: UnreadTotal
  /** connections of the server with a subscription to `newPendingTransactions` */
  readonly pendingSubscribers: Set<Connection>
  readonly clock: Clock
  readonly log: Log
}

/** Reason why a connection ended. */
export type End = 'client' | 'slow' | 'silent' | 'rate' | 'closing' | 'failed' | 'greedy' | 'evicted'

/** Close codes of RFC 6455, section 7.4.1. */
const [goingAway, policyViolation] = [1001, 1008]

/** Bytes of a text message, which `ws` gives in one of three forms. */
const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data

const closeReasons = { slow: 'messages are read too slowly', rate: 'over rate limit', failed: 'internal error' } as const

/** A subscription and the room that it takes. */
type Asked = { readonly subscription: Subscription; readonly room: Disposable }

/** A subscription whose id the client knows. */
type Active = {
  readonly subscription: Subscription
  isReading: boolean
  /** the chain moved since the last read */
  isBehind: boolean
  feed: Disposable | undefined
}

/** The part of a WebSocket that a connection uses. */
export type MessageSocket = FrameSocket &
  Pick<WebSocket, 'readyState' | 'OPEN' | 'isPaused' | 'pause' | 'resume' | 'close' | 'terminate' | 'ping' | 'pong'> & {
    on(event: 'message', listener: (data: RawData) => void): unknown
    on(event: 'ping' | 'pong', listener: (data: Buffer) => void): unknown
    on(event: 'error', listener: (error: Error) => void): unknown
    once(event: 'close', listener: () => void): unknown
  }

/** One client: its concurrent calls, its subscriptions, and its unread messages. */
export class Connection {
  readonly #socket: MessageSocket
  readonly #deps: ConnectionDeps
  readonly #limits: ConnectionLimits
  readonly #bucket: Bucket | undefined
  readonly #slot: ConnectionSlot
  readonly #peer: Peer | undefined
  readonly #asked = new Map<string, Asked>()
  readonly #room: SubscriptionRoom
  readonly #active = new Map<string, Active>()
  readonly #unread: Unread
  readonly #outbox: Outbox
  readonly #backlog: Backlog
  #running = 0
  #lastActivityMs: number
  #end: End | undefined

  /**
   * @param bucket pays for the calls of the client
   * @param slot of the connection in its server; calls and subscriptions mark it busy
   * @param onGone called once, when the connection has ended completely
   */
  constructor(
    socket: MessageSocket,
    deps: ConnectionDeps,
    limits: ConnectionLimits,
    { bucket, slot, peer }: { readonly bucket: Bucket | undefined; readonly slot: ConnectionSlot; readonly peer?: Peer },
    onGone: (why: End) => void,
  ) {
    this.#bucket = bucket
    this.#slot = slot
    this.#peer = peer
    this.#socket = socket
    this.#outbox = new Outbox(socket)
    this.#deps = deps
    this.#limits = limits
    this.#unread = deps.unreadTotal.join('websocket', () => this.#drop())
    this.#backlog = new Backlog(
      deps.clock,
      () => limits.maxUnreadBytes * deps.unreadTotal.share,
      () => this.#cut('slow'),
    )
    this.#room = new SubscriptionRoom(deps.subscriptionBudget, limits)
    this.#lastActivityMs = deps.clock.elapsedMs()
    const noteActivity = (): void => {
      this.#lastActivityMs = deps.clock.elapsedMs()
    }
    socket.on('message', (data) => {
      noteActivity()
      void this.#receive(bytesOf(data))
    })
    socket.on('ping', noteActivity)
    answerPings(socket)
    socket.on('pong', noteActivity)
    socket.on('error', (error) => {
      this.#end ??= 'failed'
      deps.log.debug('websocket failed', { error })
    })
    socket.once('close', () => {
      this.#end ??= 'client' // calls that still run start no subscriptions
      this.#endSubscriptions()
      this.#unread[Symbol.dispose]()
      onGone(this.#end)
    })
  }

  /** Notifies the subscriptions of one kind. */
  notify(kind: Exclude<Subscription['kind'], 'changes' | 'feed'>, notification: Notification): void {
    for (const [id, { subscription }] of this.#active) {
      if (this.#end !== undefined) return
      if (subscription.kind === kind) this.#sendNotification(notification(id))
    }
  }

  /** Reads the changes of the chain and ends feeds that are over: the chain has a new head. */
  headsMoved(): void {
    for (const [id, active] of this.#active) {
      const { subscription } = active
      if (subscription.kind === 'changes') void this.#sendChanges(id, active)
      const end = subscription.kind === 'feed' ? subscription.ended?.() : undefined
      if (end === undefined) continue
      this.#sendNotification(endNotification(id, end))
      this.#forget(id)
    }
  }

  /** Runs one read at a time; heads that arrive during a read cause one more. A client that reads gets any number of changes. */
  async #sendChanges(id: string, active: Active): Promise<void> {
    const { subscription } = active
    if (subscription.kind !== 'changes') return
    active.isBehind = true
    if (active.isReading) return
    active.isReading = true
    try {
      while (active.isBehind) {
        active.isBehind = false
        const { texts, isEnd } = await subscription.changes()
        for (const text of texts) {
          while (!this.#backlog.isShort && this.#isOn(id)) await this.#backlog.untilShort() // another subscription may take the room first
          if (!this.#isOn(id)) return
          this.#sendNotification(notificationOfText(text)(id))
        }
        if (!isEnd) active.isBehind = true
      }
    } catch (error) {
      this.#deps.log.warn('subscription failed, ending the connection', { error })
      this.#cut('failed') // its next notifications are unknown
    } finally {
      active.isReading = false
    }
  }

  #isOn(id: string): boolean {
    return this.#end === undefined && this.#active.has(id)
  }

  /** Sends a ping; ends the connection when the client has been silent for too long. */
  probe(idleMs: number): void {
    if (this.#deps.clock.elapsedMs() - this.#lastActivityMs > idleMs) this.#cut('silent')
    else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  /** Closes the connection after its running calls. The caller ends connections that take too long. */
  close(): void {
    if (this.#end !== undefined) return
    this.#end = 'closing'
    this.#socket.pause()
    this.#closeWhenIdle()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** Ends the connection: another connection takes its slot. */
  evict(): void {
    this.#end ??= 'evicted'
    this.#endSubscriptions()
    this.#socket.terminate()
  }

  /** Ends the connection and discards unread messages, a pending close frame included: the server needs the memory. */
  #drop(): void {
    this.#end ??= 'greedy'
    this.#endSubscriptions()
    this.#socket.terminate()
  }

  async #receive(bytes: Buffer): Promise<void> {
    if (this.#end !== undefined) return
    this.#running++
    this.#slot.begin()
    this.#throttle()
    try {
      await this.#reply(bytes)
    } catch (error) {
      this.#deps.log.error('websocket message failed', { error })
      this.#cut('failed')
    } finally {
      this.#running--
      this.#slot.finish()
      this.#throttle()
      this.#closeWhenIdle()
    }
  }

  async #reply(bytes: Buffer): Promise<void> {
    using hold = this.#deps.budget.hold()
    if (!hold.take(bytes.length))
      return this.#send(errorText(null, serverBusy({ limit: 'bytes', max: this.#deps.budget.maxBytes })), 'answer')
    const asked: string[] = []
    using share = this.#unread.share()
    const answer = await this.#deps.dispatcher.answer(bytes, this.#caller(asked, share))
    const large = share.takeLarge()
    share[Symbol.dispose]() // from here on the sent message counts
    if (answer === undefined) large?.[Symbol.dispose]()
    else this.#send(answer, 'answer', large)
    if (asked.length === 0) return
    const text = String(answer ?? '')
    for (const id of asked) this.#begin(id, text)
  }

  /** Starts a subscription if the answer gave its id to the client; drops it otherwise. */
  #begin(id: string, answer: string): void {
    const asked = this.#asked.get(id)
    if (asked === undefined) return
    if (answer.includes(id) && this.#end === undefined) this.#start(id, asked.subscription)
    else this.#forget(id)
  }

  /** @returns whether there was a subscription with this id */
  #forget(id: string): boolean {
    const active = this.#active.get(id)
    active?.feed?.[Symbol.dispose]()
    this.#active.delete(id)
    if (active?.subscription.kind === 'newPendingTransactions') this.#enterPending()
    const asked = this.#asked.get(id)
    if (asked === undefined) return false
    asked.room[Symbol.dispose]()
    this.#slot.finish()
    return this.#asked.delete(id)
  }

  #start(id: string, subscription: Subscription): void {
    const active: Active = { subscription, isReading: false, isBehind: false, feed: undefined }
    this.#active.set(id, active)
    if (subscription.kind === 'newPendingTransactions') this.#enterPending()
    if (subscription.kind === 'feed') this.#open(id, active, subscription)
    else void this.#sendChanges(id, active) // changes by blocks that arrived before the answer
  }

  /** Enters the connection among those with a subscription to pool transactions, or removes it after its last one. */
  #enterPending(): void {
    const { pendingSubscribers } = this.#deps
    if ([...this.#active.values()].some(({ subscription: { kind } }) => kind === 'newPendingTransactions')) pendingSubscribers.add(this)
    else pendingSubscribers.delete(this)
  }

  #open(id: string, active: Active, { open }: Extract<Subscription, { kind: 'feed' }>): void {
    const isOn = (): boolean => this.#active.get(id) === active
    active.feed = open((notification) => isOn() && this.#sendNotification(notification(id)))
    if (!isOn()) active.feed[Symbol.dispose]() // the first notification ended the connection
  }

  #endSubscriptions(): void {
    for (const id of [...this.#asked.keys()]) this.#forget(id)
    this.#backlog[Symbol.dispose]()
  }

  #caller(asked: string[], share: AnswerShare): SocketCaller {
    const socket = this.#socket
    return {
      get isGone(): boolean {
        return share.isGone || socket.readyState !== socket.OPEN
      },
      share,
      tally: emptyTally(),
      bucket: this.#bucket,
      peer: this.#peer,
      subscriptions: {
        subscribe: (subscription): string => {
          const room = this.#room.take(subscription.use)
          const id = toHex(randomBytes(16))
          this.#asked.set(id, { subscription, room })
          this.#slot.begin()
          asked.push(id)
          return id
        },
        unsubscribe: (id): boolean => this.#forget(id),
      },
    }
  }

  /** Sends a notification, charged as a call of the cheapest class. Closes the connection of a client over its rate limit: no notification is skipped. */
  #sendNotification(notification: string): void {
    if (this.#bucket?.take(costClasses.instant.units) === undefined) this.#send(notification, 'notification')
    else this.#cut('rate')
  }

  /** @param large disposed of when the message is sent or the connection ends */
  #send(answer: Answer, what: 'answer' | 'notification', large?: Disposable): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const bytes = messageBytes(answer)
    const counted = what === 'notification' ? bytes : 0
    this.#unread.add(bytes)
    if (this.#unread.isGone) return
    const isSlow = this.#backlog.isFull
    this.#backlog.add(counted)
    this.#outbox.send(answer, bytes, () => {
      this.#backlog.remove(counted)
      this.#unread.add(-bytes)
      large?.[Symbol.dispose]()
      this.#throttle()
      this.#closeWhenIdle()
    })
    if (isSlow || this.#outbox.bufferedBytes > this.#limits.maxBufferedBytes) this.#cut('slow')
  }

  /** Pauses reading while too many messages are processed, or while the client has not read most of its answers. */
  #throttle(): void {
    if (this.#end !== undefined || this.#socket.readyState !== this.#socket.OPEN) return
    const isBusy = this.#running >= this.#limits.maxRunning || this.#outbox.bufferedBytes > this.#limits.maxBufferedBytes / 4
    if (isBusy && !this.#socket.isPaused) this.#socket.pause()
    if (!isBusy && this.#socket.isPaused) this.#socket.resume()
  }

  /** Closes the connection after its last answer when the server closes. */
  #closeWhenIdle(): void {
    if (this.#end !== 'closing' || this.#running > 0 || this.#outbox.isStreaming) return
    this.#socket.resume() // otherwise its close frame would not be read
    this.#socket.close(goingAway, 'the server closes')
  }

  /** Ends the connection, with a close reason for clients that still read. */
  #cut(why: 'slow' | 'silent' | 'rate' | 'failed'): void {
    if (this.#end !== undefined) return
    this.#end = why
    this.#endSubscriptions()
    this.#deps.log.info('websocket client disconnected', { why, unreadBytes: this.#outbox.bufferedBytes })
    if (why === 'silent') {
      this.#socket.terminate()
      return
    }
    this.#socket.resume()
    this.#socket.close(policyViolation, closeReasons[why])
    const timer = this.#deps.clock.after(this.#limits.closeTimeoutMs, () => this.#socket.terminate())
    this.#socket.once('close', () => timer[Symbol.dispose]())
  }
}

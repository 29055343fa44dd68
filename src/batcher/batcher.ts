import { isActive } from '#chainspec/forks'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { defaultBackoff, type FailedTry, type Random, retry } from '#lib/retry'
import type { BlockId, L2Ref } from '#types/blockRef'
import { BatcherAccount, type BatcherSigner } from './account.ts'
import { ChannelFiller } from './channelFiller.ts'
import { closeChannel } from './channelParcels.ts'
import type { CloseReason } from './closing.ts'
import { batcherFault } from './faults.ts'
import type { BatcherMetrics, RestartReason } from './metrics.ts'
import type { OpenChannel } from './openChannel.ts'
import { type BatcherOptions, type BatcherSettings, defaultBatcherSettings } from './options.ts'
import type { AccountNonces, BatcherL1, BatcherL2, BlobProver, DataThrottle, L1Tip } from './ports.ts'
import { PostedChannels } from './postedChannels.ts'
import { Settling } from './settling.ts'
import { isSameThrottle, throttleFor, throttleRatio } from './throttle.ts'

export type BatcherDeps = {
  readonly l1: BatcherL1
  readonly l2: BatcherL2
  /** absent: the batcher posts no blobs */
  readonly prover?: BlobProver
  readonly signer: BatcherSigner
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: BatcherMetrics
}

export type BatcherStatus = {
  /** `settling`: waits until derivation has read all earlier batcher transactions */
  readonly state: 'settling' | 'posting' | 'stopped'
  /** L2 blocks that are not on L1, and their estimated compressed size */
  readonly backlog: { readonly blocks: number; readonly bytes: number }
  readonly pendingTransactions: number
  /** last block of the last channel that is completely on L1, since the start */
  readonly lastPosted: L2Ref | undefined
  /** compressed size, since the start */
  readonly postedBytes: number
  readonly postedBlocks: number
  /** fees of the transactions included since the start, in wei */
  readonly feesWei: bigint
  readonly throttle: DataThrottle | undefined
}

/** State of L1 and L2 in one round. The nonces are read first. */
type View = {
  readonly nonces: AccountNonces
  readonly tip: L1Tip
  readonly unsafe: L2Ref
  readonly safe: L2Ref
  readonly currentL1: BlockId | undefined
}

/**
 * Limit of the back-off. Each time posted blocks did not become safe, the batcher waits twice as long for derivation and halves its channels, up to a
 * factor of 2^5.
 */
const maxPatience = 5

/**
 * L1 blocks for which `auto` uses calldata after L1 refused blobs: it requires another kind of proof, or the pool has pending calldata transactions
 * of the account.
 */
const refusedBlobsL1Blocks = 50

/** Posts the blocks of an L2 chain to L1, and posts them again until they are safe. */
export class Batcher {
  readonly #deps: BatcherDeps
  readonly #options: BatcherSettings & BatcherOptions
  readonly #account: BatcherAccount
  readonly #filler: ChannelFiller
  readonly #posted = new PostedChannels()
  #settling: Settling | undefined
  #isStopped = false
  #starts: Disposable | undefined
  #isNextCorrupt = false
  #throttle: DataThrottle | undefined | 'unknown' = 'unknown'
  #backlog = { blocks: 0, bytes: 0 }
  /** times that posted blocks did not become safe, since the safe head last advanced */
  #vain = 0
  #safe: L2Ref | undefined
  #isLate = false
  /** `auto` uses calldata until this L1 block, because L1 refused blobs */
  #noBlobsUntilL1 = 0

  /** @throws Fault NO_BLOB_PROVER (fatal) */
  constructor(deps: BatcherDeps, given: BatcherOptions) {
    if (given.carrier === 'blobs' && deps.prover === undefined) throw batcherFault('NO_BLOB_PROVER', {})
    const options = { ...defaultBatcherSettings, ...given }
    const { config } = options
    this.#deps = deps
    this.#options = options
    this.#account = new BatcherAccount(deps, { ...options, inbox: config.batchInbox, l1ChainId: config.l1ChainId })
    this.#filler = new ChannelFiller(config, deps.l2, options)
    this.#settling = new Settling(options.resubmitMs)
  }

  /**
   * Runs until the signal is aborted.
   * @throws Fault (fatal)
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, metrics } = this.#deps
    metrics.restarts.inc({ reason: 'start' })
    const onFailure = ({ failures, delayMs, error }: FailedTry): void => {
      metrics.failures.inc({})
      log[failures === 1 ? 'warn' : 'debug']('posting failed, retrying', { failures, delayMs, error })
    }
    try {
      for (;;) {
        const next = await retry({ clock, random }, { backoff: defaultBackoff, signal, onFailure }, () => this.#round(signal))
        await clock.delay(next === 'go-on' ? 0 : this.#options.pollMs, signal)
      }
    } catch (error) {
      if (signal.aborted && !(error instanceof Fault && error.severity === 'fatal')) return
      throw error
    } finally {
      this.#starts?.[Symbol.dispose]()
    }
  }

  status(): BatcherStatus {
    const { blocks, bytes, last } = this.#posted.totals
    return {
      state: this.#isStopped ? 'stopped' : this.#settling ? 'settling' : 'posting',
      backlog: this.#backlog,
      pendingTransactions: this.#account.pending,
      lastPosted: last,
      postedBytes: bytes,
      postedBlocks: blocks,
      feesWei: this.#account.feesWei,
      throttle: this.#throttle === 'unknown' ? undefined : this.#throttle,
    }
  }

  /** Stops sending until `start`, or for this time. */
  stop(forMs?: number): void {
    this.start()
    this.#isStopped = true
    if (forMs !== undefined) this.#starts = this.#deps.clock.after(forMs, () => this.start())
  }

  start(): void {
    this.#starts?.[Symbol.dispose]()
    this.#starts = undefined
    this.#isStopped = false
  }

  /** Changes one byte in the first frame of the next channel. */
  corruptNext(): void {
    this.#isNextCorrupt = true
  }

  /** Runs one round: reads both chains, then handles in this order: sent transactions, the safe head, new channels, sending, the throttle. */
  async #round(signal: AbortSignal): Promise<'go-on' | 'wait'> {
    const view = await this.#look(signal)
    const areBlobs = this.#account.hasBlobsPending
    const state = await this.#account.sync(view.nonces, view.tip, signal)
    if (state === 'refused' && areBlobs) this.#noBlobsUntilL1 = view.tip.number + refusedBlobsL1Blocks
    if (state !== 'ok') this.#restart(state)
    this.#advance(view)
    await this.#checkOverdue(view, signal)
    if (this.#settling) this.#trySettle(view)
    const next = this.#settling ? 'wait' : await this.#post(view, signal)
    if (!this.#isStopped) await this.#account.push(view.nonces, view.tip, signal)
    this.#report(view)
    await this.#setThrottle()
    return next
  }

  async #look(signal: AbortSignal): Promise<View> {
    const { l1, l2 } = this.#deps
    try {
      const nonces = await l1.nonces(signal)
      const tip = await l1.tip(signal)
      return { nonces, tip, ...(await l2.status(signal)) }
    } catch (error) {
      signal.throwIfAborted()
      // the backlog grows while L1 does not respond
      this.#report(await l2.status(signal))
      await this.#setThrottle()
      throw error
    }
  }

  #advance({ safe, tip }: View): void {
    const { metrics, log } = this.#deps
    if (safe.number > (this.#safe?.number ?? -1)) this.#vain = 0
    this.#safe = safe
    for (const { first, last, blocks, bytes } of this.#posted.advance(safe)) {
      metrics.blocks.inc({}, blocks)
      metrics.bytes.inc({}, bytes)
      log.info('blocks posted', { from: first.number, to: last.number, bytes, l1: tip.number })
    }
  }

  /** Starts again when derivation has read a channel and its blocks are not safe: derivation dropped it, and drops all channels after it. */
  async #checkOverdue({ currentL1 }: View, signal: AbortSignal): Promise<void> {
    const patience = this.#options.stallL1Blocks * 2 ** Math.min(this.#vain, maxPatience)
    const channel = currentL1 && this.#posted.overdue(currentL1.number, patience)
    if (channel === undefined || !(await this.#account.confirm(channel.parcels, signal))) return
    this.#vain++
    this.#deps.log.warn('posted blocks did not become safe', { from: channel.first.number, to: channel.last.number, times: this.#vain })
    this.#restart('not-safe')
  }

  #restart(reason: RestartReason): void {
    const { metrics, log } = this.#deps
    metrics.restarts.inc({ reason })
    log.info('posting restarted at the safe head', { reason })
    this.#account.clearQueue()
    this.#posted.clear()
    if (this.#safe) this.#filler.begin(this.#safe)
    this.#settling = new Settling(this.#options.resubmitMs)
  }

  #trySettle(view: View): void {
    const nowMs = this.#deps.clock.elapsedMs()
    if (!this.#settling?.isSettled({ ...view, pending: this.#account.pending, nowMs })) return
    this.#settling = undefined
    this.#account.begin(view.nonces)
    this.#filler.begin(view.safe)
    this.#deps.log.info('posting started', { after: view.safe.number, nonce: view.nonces.latest })
  }

  /**
   * Returns the target size of a channel. All its parcels must be pending at once, so that they are included before the channel times out. After
   * channels that did not become safe, the target is smaller.
   */
  #targetBytes(): number {
    const { targetChannelBytes, maxCalldataBytes, maxPendingTransactions } = this.#options
    return Math.min(targetChannelBytes, maxCalldataBytes * maxPendingTransactions) / 2 ** Math.min(this.#vain, maxPatience)
  }

  /**
   * Adds blocks to channels and closes channels that are due, within the limits of one round. It also runs while the batcher is stopped, to measure
   * the backlog.
   */
  async #post({ tip, unsafe, safe }: View, signal: AbortSignal): Promise<'go-on' | 'wait'> {
    const filler = this.#filler
    if (filler.next !== undefined && safe.number >= filler.next) {
      this.#restart('overtaken')
      return 'wait'
    }
    for (let added = 0; ; ) {
      const due = filler.dueBy(tip, this.#targetBytes())
      if (due !== undefined && filler.open !== undefined) await this.#close(filler.open, due, tip)
      if (!this.#hasRoom()) return 'wait'
      if (added >= this.#options.maxBlocksPerPoll) return 'go-on'
      const before = filler.last?.number ?? 0
      const filling = await filler.fill(unsafe, tip, this.#targetBytes(), signal)
      if (filling === 'reorg') this.#restart('l2-reorg')
      this.#noteLate(filling === 'late')
      if (filling !== 'filled') return 'wait'
      added += (filler.last?.number ?? 0) - before
    }
  }

  #hasRoom(): boolean {
    const { maxPendingTransactions, maxBacklogBytes } = this.#options
    return this.#account.queued < maxPendingTransactions && this.#account.waitingBytes + this.#filler.bufferedBytes < maxBacklogBytes
  }

  #noteLate(isLate: boolean): void {
    if (isLate && !this.#isLate) this.#deps.log.warn('sequencing window over, derivation continues without these blocks', {})
    this.#isLate = isLate
  }

  async #close(open: OpenChannel, reason: CloseReason, tip: L1Tip): Promise<void> {
    const { clock, log, metrics } = this.#deps
    const { config } = this.#options
    const startMs = clock.elapsedMs()
    const areBlobsRefused = this.#options.carrier === 'auto' && tip.number < this.#noBlobsUntilL1
    const areBlobsAllowed = isActive(config.schedule, 'ecotone', tip.timestamp) && !areBlobsRefused
    const { channel, carrier } = await closeChannel(this.#deps, open, tip, {
      ...this.#options,
      areBlobsAllowed,
      isCorrupt: this.#isNextCorrupt,
    })
    this.#isNextCorrupt = false
    this.#filler.closed(channel.bytes)
    this.#posted.add(channel)
    this.#account.enqueue(channel.parcels)
    const ms = clock.elapsedMs() - startMs
    metrics.encoding.observe({}, ms / 1000)
    metrics.channels.inc({ reason })
    metrics.carriers.inc({ carrier })
    const { blocks, bytes, parcels } = channel
    log.debug('channel closed', { reason, ...open.form, carrier, blocks, rlpBytes: open.bytes, bytes, transactions: parcels.length, ms })
  }

  #report({ unsafe, safe }: Pick<View, 'unsafe' | 'safe'>): void {
    const { metrics } = this.#deps
    const onL1 = Math.max(safe.number, this.#posted.lastIncluded?.number ?? 0)
    const bytes = this.#filler.backlogBytes(unsafe.number)
    this.#backlog = { blocks: Math.max(0, unsafe.number - onL1), bytes: bytes + this.#posted.waitingBytes }
    metrics.backlogBlocks.set({}, this.#backlog.blocks)
    metrics.backlogBytes.set({}, this.#backlog.bytes)
    metrics.pending.set({}, this.#account.pending)
    metrics.fees.set({}, Number(this.#account.feesWei))
  }

  /** Sends the throttle to the sequencer when it changes, and at the start, because an earlier batcher may have set one. */
  async #setThrottle(): Promise<void> {
    const limits = throttleFor(this.#backlog.bytes, this.#options.throttleBytes)
    if (this.#throttle !== 'unknown' && isSameThrottle(limits, this.#throttle)) return
    await this.#deps.l2.throttle(limits)
    this.#throttle = limits
    this.#deps.metrics.throttle.set({}, throttleRatio(limits))
    if (limits === undefined) this.#deps.log.debug('sequencer throttle removed', {})
    else this.#deps.log.info('sequencer throttled', { ...limits, backlogBytes: this.#backlog.bytes })
  }
}

import { buildBlock } from '#block/building/buildBlock'
import { type BuildTiming, buildFromPool } from '#block/building/buildFromPool'
import type { BuildPool } from '#block/building/buildPool'
import type { BlockDeps, BlockResult, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { ExecutionGuard, unlimited } from '#block/execution/executionGuard'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { executionFault } from '#block/faults'
import { claimedHeader, verifyClaimed, verifyPayload } from '#block/validation/verifyPayload'
import { engineFault } from '#engine/faults'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import { PendingChain } from '#pending/pendingChain'
import type { PendingPort } from '#pending/pendingPort'
import { createMemoryJournal } from '#store/memoryJournal'
import type { BlockId } from '#types/blockRef'
import { type Address, emptyRoot, type Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import { type BlockLoad, BlockTree, noLoad, sizeOfBlock } from './blockTree.ts'
import { type Branch, branchOfHeads } from './branch.ts'
import { CommitBehind, type CommitDeps, type Committed, type Published } from './commit/commitBehind.ts'
import { type ExecutionDeps, type ExecutionOptions, type HeldSizes, usualOptions } from './executionDeps.ts'
import { type HeadRecord, recordAt, recordOf, sameHeads } from './heads/headRecord.ts'
import { headsOf, openHeads } from './heads/storedHeads.ts'
import { BlockJournal } from './journal/blockJournal.ts'
import type { BlockLink, JournalledHeads } from './journal/journalRecords.ts'
import { OfferedPayloads } from './offeredPayloads.ts'
import { unwoundBlocks } from './unwoundBlocks.ts'
import { createChainView, type ExecutionView } from './view/chainView.ts'

/** The execution half: the engine, import of payloads, and views for readers. Disposing of it is `close`. */
export interface Execution extends Engine, AsyncDisposable {
  /** `insert`, at once. */
  insertPayload(payload: Payload): InsertResult
  /** The newest published heads: frozen, replaced as a whole. */
  readonly published: HeadRecord
  /** Blocks that are not sealed. */
  readonly pending: PendingPort
  /** The chain as it is now. */
  view(): ExecutionView
  /** Commits all that is published, now. @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED (fatal) */
  commit(): void
  /** From now on blocks that are built with transactions of the pool keep to these limits. */
  limitBlocks(change: BlockLimits): void
  sizes(): HeldSizes
  /** Commits all that is published and takes nothing more. What cannot be committed stays in the journal, for the next start. */
  close(): Promise<void>
}

/**
 * Effects of a new block, in order: 1 it is executed, 2 it is appended to the journal, 3 it is in the tree, and the caller has its answer.
 * Of new heads: 1 they are appended to the journal, 2 published, and the caller has its answer; some time later (`CommitBehind`) 3 blocks that an
 * unwind takes out of the store are appended to the journal, 4 a transaction, 5 the record without what it committed; 4 and 5 again until all blocks
 * up to these heads are committed, other calls in between; then 6 a new segment of the journal, 7 the heads again if newer ones were published
 * meanwhile, 8 segments that are covered are removed. When a segment is full, 7 and 8 also precede the next new block. A kill before an answer loses
 * only what nobody was told. After it the next start finds in the journal what the store lacks: blocks are executed again when they are asked for,
 * those under the last heads at once. A kill between 3 and 8 leaves records of blocks that the store has: they are passed over. Between two
 * transactions the store has blocks of heads whose sequence it has not: the start goes on from there.
 */
class LocalExecution implements Execution {
  readonly #deps: ExecutionDeps
  readonly #block: BlockDeps
  readonly #tree: BlockTree
  readonly #journal: BlockJournal
  readonly #commits: CommitBehind
  readonly #guard: ExecutionGuard
  readonly #offered: OfferedPayloads
  readonly pending: PendingChain
  #published: HeadRecord
  /** of the published heads */
  #sequence: number
  /** of the published blocks that are not committed */
  #load: BlockLoad = noLoad
  #limits: BlockLimits = {}
  #isClosed = false

  constructor(deps: ExecutionDeps, opts: ExecutionOptions) {
    const { evm, config, log, clock, watch = new ExecutionWatch() } = deps
    const { maxTreeBytes, minFreeBytes, commitSliceMs: sliceMs, maxPayloadMs, maxPendingMs: maxMs } = { ...usualOptions, ...opts }
    this.#deps = deps
    const guard = new ExecutionGuard(clock, watch)
    this.#guard = guard
    this.#offered = new OfferedPayloads({ guard, watch, clock, log }, maxPayloadMs)
    this.#block = { evm, config, senders: deps.senders ?? createSenders({ maxBytes: senderCacheBytes }), pace: guard.pace }
    this.#tree = new BlockTree(maxTreeBytes, (block) => this.#isPublished(block))
    const { heads, sequence } = openHeads(deps)
    const { number, hash } = heads.unsafe
    const committed = { number, hash }
    this.#published = recordOf({ heads, committed, base: committed, overlays: [] })
    this.#sequence = sequence
    this.#commits = new CommitBehind(this.#commitDeps(), sequence, { minFreeBytes, maxPendingBytes: maxTreeBytes / 2, sliceMs })
    this.#journal = new BlockJournal(deps.journal ?? createMemoryJournal(), log)
    this.pending = new PendingChain({
      ...{ block: this.#block, clock, log, guard, watch, maxMs },
      head: (): BlockId => this.#published.heads.unsafe,
      onHead: <T>(run: (on: ParentBlock) => T): T => this.#during(this.#published.heads.unsafe, run).value,
      onChange: (): void => this.#publish(this.#published),
    })
    this.#restore()
  }

  #commitDeps(): CommitDeps {
    return {
      ...this.#deps,
      waitMs: (): number => this.pending.rhythm.waitMs(this.#deps.clock.elapsedMs()),
      published: (): Published => ({ record: this.#published, sequence: this.#sequence, load: this.#load }),
      sizeOf: (block): number => this.#tree.loadOf(block.hash)?.sizeBytes ?? sizeOfBlock(block),
      onCommitting: (): void => this.#journalUnwound(),
      onCommitted: (done): void => this.#afterCommit(done),
    }
  }

  get published(): HeadRecord {
    return this.#published
  }

  view(): ExecutionView {
    const { kv, config, clock } = this.#deps
    const reader = kv.snapshot()
    const view = createChainView(reader, config, recordAt(this.#published, clock.nowMs()), (hash) => this.#tree.get(hash))
    if (view) return view
    reader[Symbol.dispose]()
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.#published.committed.hash}, the head that was committed` })
  }

  async insert(payload: Payload): Promise<InsertResult> {
    return this.insertPayload(payload)
  }

  insertPayload(payload: Payload): InsertResult {
    this.#requireOpen()
    const claim = claimedHeader(this.#deps.config.schedule, payload)
    if (claim.kind === 'invalid') return claim
    if (this.#isKnown(payload.blockHash)) return { kind: 'valid' }
    this.#makeRoom()
    const parent = { hash: payload.parentHash, number: payload.blockNumber - 1 }
    const execute = (on: ParentBlock): BlockResult =>
      this.pending.sealed(on, payload) ?? verifyClaimed(this.#block, on, payload, claim.header)
    const result = this.#executed(parent, (on) => this.#offered.execute(payload, () => execute(on)))
    return result.kind === 'invalid' ? result : { kind: 'valid' }
  }

  async build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onForcedExecuted?: () => void): Promise<BuildResult> {
    this.#requireOpen()
    this.#makeRoom()
    const { pool } = this.#deps
    const result =
      pool === undefined || attributes.noTxPool || seal?.aborted
        ? this.#executed(parent, (on) => this.#guard.run(parent.number + 1, unlimited, () => buildBlock(this.#block, on, attributes)))
        : await this.#buildWith(pool, parent, attributes, { seal, onForcedExecuted })
    if (result.kind === 'invalid') return result
    return { kind: 'built', payload: payloadOfBlock(result.block, result.block.hash) }
  }

  async #buildWith(pool: BuildPool, parent: BlockId, attributes: PayloadAttributes, timing: BuildTiming): Promise<BlockResult> {
    let ms = 0
    const during = <T>(run: (on: ParentBlock) => T): T => {
      const ran = this.#during(parent, (on) => this.#guard.run(parent.number + 1, unlimited, () => run(on)))
      ms += ran.ms
      return ran.value
    }
    const { clock, flashblocks } = this.#deps
    const deps = { block: this.#block, pool, clock, flashblocks, limits: (): BlockLimits => this.#limits, during }
    const built = await buildFromPool(deps, attributes, timing)
    return built.kind === 'invalid'
      ? built
      : this.#executed(parent, (on) => ({ kind: 'executed', block: built.build.seal(on), earlierMs: ms }))
  }

  async setHeads(heads: Heads): Promise<void> {
    this.#requireOpen()
    this.#wake(heads.unsafe.hash)
    const branch = this.#plan(heads)
    if (sameHeads(this.#published.heads, heads)) return
    this.#journalBlocks(branch.blocks)
    this.#journal.appendHeads({ ...heads, sequence: this.#sequence + 1 })
    this.#sequence++
    this.#publishBranch(heads, branch)
    const { number, hash } = heads.unsafe
    this.#deps.log.debug('heads set', { number, hash, overlays: branch.blocks.length })
  }

  async heads(): Promise<Heads> {
    return this.#published.heads
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    if (typeof at !== 'number') this.#wake(at)
    using view = this.view()
    const hash = typeof at === 'number' ? view.canonicalHash(at) : at
    // a block whose ancestors were forgotten is no more known than they are
    const found = hash !== undefined && view.branch(hash) ? view.block(hash) : undefined
    return found && payloadOfBlock(found.block, found.hash)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    this.#wake(block.hash)
    using view = this.view()
    const state = view.state(block)
    return state && (state.account(account)?.storageRoot ?? emptyRoot)
  }

  commit(): void {
    this.#commits.run()
  }

  limitBlocks(change: BlockLimits): void {
    this.#limits = { ...this.#limits, ...change }
  }

  sizes(): HeldSizes {
    const { sizeBytes: journalBytes } = this.#journal
    const { reused } = this.pending
    return { journalBytes, treeBytes: this.#tree.sizeBytes, overlayBlocks: this.#published.overlays.length, reused }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.pending[Symbol.dispose]()
    try {
      this.#commits.run()
    } catch (error) {
      this.#deps.log.warn('closed with blocks that are in the journal only', { error })
    } finally {
      this.#commits.stop()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new Error('execution: closed')
  }

  /** Before a new block. @throws as `CommitBehind.makeRoom` */
  #makeRoom(): void {
    this.#commits.makeRoom()
    if (this.#journal.isLong) this.#pruneJournal(0)
  }

  /** Whether a block needs no execution to be valid; one that no record would bring back after a kill is journalled first. */
  #isKnown(hash: Hash): boolean {
    if (this.#journal.sleeps(hash)) return true
    using view = this.view()
    const branch = view.branch(hash)
    if (branch) this.#journalBlocks(branch.blocks)
    return branch !== undefined
  }

  /** Appends the blocks of a branch that the journal has lost sight of: they were committed once, and unwound. */
  #journalBlocks(blocks: readonly ExecutedBlock[]): void {
    const beside = blocks.slice(blocks.findLastIndex((block) => this.#isPublished(block)) + 1)
    for (const block of beside) this.#journal.appendBlock(block)
  }

  /** Appends the blocks that the next commit takes out of the store: they stay known. */
  #journalUnwound(): void {
    for (const block of unwoundBlocks(this.#deps.kv, this.#published)) {
      if (this.#tree.get(block.hash)) this.#journal.appendBlock(block)
      else this.#journal.appendSleeping(block)
    }
  }

  /** The branch that makes the heads true. */
  #plan(heads: JournalledHeads | Heads): Branch {
    using view = this.view()
    return branchOfHeads(view, heads, this.#published.heads.finalized)
  }

  /** Runs on a known parent, as long as the state after it is open. @returns with the blocks from the committed chain to the parent */
  #during<T>(parent: BlockId, run: (on: ParentBlock) => T): { value: T; ms: number; branch: readonly ExecutedBlock[] } {
    this.#requireOpen()
    this.#wake(parent.hash)
    using view = this.view()
    const on = view.parent(parent.hash)
    if (on === undefined) throw engineFault('UNKNOWN_PARENT', parent)
    const { clock } = this.#deps
    const startMs = clock.nowMs()
    const value = run(on)
    // a clock that was set back meanwhile is no gain
    return { value, ms: Math.max(0, clock.nowMs() - startMs), branch: view.branch(parent.hash)?.blocks ?? [] }
  }

  /** Executes on a known parent, and keeps the block if it is valid. @param execute tells how long it took before */
  #executed(parent: BlockId, execute: (on: ParentBlock) => BlockResult & { readonly earlierMs?: number }): BlockResult {
    const { log, onExecuted } = this.#deps
    const { value: result, ms: lastMs, branch } = this.#during(parent, execute)
    const ms = (result.earlierMs ?? 0) + lastMs
    if (result.kind === 'invalid') {
      log.debug('block refused', { reason: result.reason, ms })
      return result
    }
    const { header, hash, transactions } = result.block
    this.#journalBlocks(branch)
    this.#journal.appendBlock(result.block)
    this.#tree.add(result.block, ms)
    onExecuted?.(result.block, ms)
    log.debug('block executed', { number: header.number, hash, txs: transactions.length, gas: header.gasUsed, ms })
    return result
  }

  /** Executes a journalled block of an earlier run, with those below it, as far as that is needed to have it in the tree. */
  #wake(tip: Hash): void {
    const branch = this.#journal.sleepingTo(tip, (hash) => this.#tree.get(hash)?.header.parentHash)
    for (const block of branch) if (!this.#wakeOne(block)) return
  }

  #wakeOne({ number, hash, parentHash }: BlockLink): boolean {
    const { log } = this.#deps
    try {
      const block = this.#journal.read(hash)
      const parent = { hash: parentHash, number: number - 1 }
      const payload = payloadOfBlock(block, hash)
      const result = this.#executed(parent, (on) => this.#guard.run(number, undefined, () => verifyPayload(this.#block, on, payload)))
      if (result.kind === 'executed') return true
      log.error('a block of the journal is not valid any more', { number, hash, reason: result.reason })
    } catch (error) {
      log.warn('a block of the journal cannot be executed', { number, hash, error })
    } finally {
      this.#journal.rouse(hash)
    }
    return false
  }

  /** Brings back the youngest heads of the journal that can be. */
  #restore(): void {
    const { log, config } = this.#deps
    const startMs = this.#deps.clock.nowMs()
    using reader = this.view()
    const journalled = this.#journal.load((hash) => reader.header(hash) !== undefined)
    const later = journalled.filter(({ sequence }) => sequence > this.#sequence).reverse()
    this.#sequence = Math.max(this.#sequence, ...later.map(({ sequence }) => sequence))
    for (const stored of later) {
      this.#wake(stored.unsafe.hash)
      try {
        const branch = this.#plan(stored)
        using view = this.view()
        const heads = headsOf(config, stored, ({ hash }) => view.block(hash)?.block)
        this.#publishBranch(heads, branch)
        const ms = this.#deps.clock.nowMs() - startMs
        log.info('journal replayed', { number: heads.unsafe.number, hash: heads.unsafe.hash, blocks: branch.blocks.length, ms })
        return
      } catch (error) {
        log.warn('heads of the journal cannot be had again', { number: stored.unsafe.number, hash: stored.unsafe.hash, error })
      }
    }
    this.#publish(this.#published)
  }

  #publishBranch(heads: Heads, { ancestor: base, blocks: overlays }: Branch): void {
    const { committed, overlays: before } = this.#published
    this.#load = this.#tree.loadOfChain(overlays, before, this.#load)
    this.pending.follow(heads.unsafe)
    this.#publish({ heads, committed, base, overlays })
    this.#commits.published()
  }

  #publish(record: HeadRecord): void {
    this.#published = recordOf({ ...record, pending: this.pending.blocks })
    this.#deps.onPublish?.(this.#published)
  }

  #isPublished({ header, hash }: ExecutedBlock): boolean {
    const { base, overlays } = this.#published
    return overlays[header.number - base.number - 1]?.hash === hash
  }

  #afterCommit({ head, roundSequence }: Committed): void {
    const { heads, base, overlays } = this.#published
    const count = head.number - base.number
    this.#load = count === overlays.length ? noLoad : this.#tree.loadWithout(this.#load, overlays.slice(0, count))
    this.#publish({ heads, committed: head, base: head, overlays: overlays.slice(count) })
    if (roundSequence === undefined) return
    this.#tree.dropUpTo(Math.min(heads.finalized.number, head.number))
    this.#journal.beginSegment()
    this.#pruneJournal(head.number, roundSequence)
  }

  /** The record of heads that the store lacks may be in a segment that goes: it is appended first. @param above as of `BlockJournal.prune` */
  #pruneJournal(above: number, committedSequence?: number): void {
    const { heads } = this.#published
    if (committedSequence !== this.#sequence) this.#journal.appendHeads({ ...heads, sequence: this.#sequence })
    using view = this.view()
    this.#journal.prune(this.#tree, above, (hash) => view.known.committed(hash) !== undefined)
  }
}

/**
 * The execution half over a store and a journal: opens its chain, or begins it with the genesis block, and brings back what was acknowledged
 * and not committed when it last ended.
 * @throws Fault WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED (fatal)
 */
export function createExecution(deps: ExecutionDeps, opts: ExecutionOptions = {}): Execution {
  return new LocalExecution(deps, opts)
}

import { buildBlock } from '#block/building/buildBlock'
import { type BuildSources, type BuildTiming, buildFromPool } from '#block/building/buildFromPool'
import type { BlockDeps, BlockResult, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { ExecutionGuard, unlimited } from '#block/execution/executionGuard'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders, type SendersAhead, senderCacheBytes } from '#block/execution/senders'
import { executionFault } from '#block/faults'
import { claimedHeader, executeProven, verifyClaimed, verifyPayload } from '#block/validation/verifyPayload'
import { engineFault } from '#engine/faults'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import { isFault } from '#lib/fault'
import { PendingChain } from '#pending/pendingChain'
import type { PendingPort } from '#pending/pendingPort'
import type { FetchedState } from '#state/fetchedState'
import { createMemoryJournal } from '#store/memoryJournal'
import { Tries } from '#trie/tries'
import type { BlockId } from '#types/blockRef'
import { type Address, emptyRoot, type Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import { type BlockLoad, BlockTree, noLoad, sizeOfBlock } from './blockTree.ts'
import { type Branch, branchOfHeads, keepFinalized } from './branch.ts'
import { isCanonical } from './chainStore.ts'
import { CommitBehind, type CommitDeps, type Committed, commitBounds, type Published } from './commit/commitBehind.ts'
import { completeOptions, type ExecutionDeps, type ExecutionOptions, type HeldSizes, usualTrieCacheBytes } from './executionDeps.ts'
import { type HeadRecord, recordAt, recordOf, sameHeads } from './heads/headRecord.ts'
import { headsOf, openHeads } from './heads/storedHeads.ts'
import { BlockJournal } from './journal/blockJournal.ts'
import type { JournalledHeads } from './journal/journalRecords.ts'
import { SleepingBlocks } from './journal/sleepingBlocks.ts'
import { lastBlocks } from './lastBlocks.ts'
import { OfferedPayloads } from './offeredPayloads.ts'
import { createChainView, type ExecutionView } from './view/chainView.ts'

/**
 * The execution half: the engine, import of payloads, and views for readers. Disposing calls `close`.
 *
 * Effects of a new block, in order: it is executed, appended to the journal and added to the tree; then the caller has its answer. Of new heads:
 * H1 they are appended to the journal, H2 published; then the caller has its answer. Later (`CommitBehind`): H3 blocks that an unwind removes from the
 * store are appended to the journal, H4 a transaction commits blocks, H5 a record without these blocks is published; H4 and H5 repeat up to these heads,
 * with other calls in between. Then H6 the journal begins a new segment, H7 newer published heads are appended again, H8 covered segments are removed.
 * When a segment is full, H7 and H8 also precede the next new block. A kill before an answer loses only unacknowledged blocks. The next start executes
 * journalled blocks that the store lacks: those under the last heads at once, others when a caller needs them. After a kill between H3 and H8 it
 * ignores records of stored blocks; after a kill between two transactions it continues from stored blocks whose heads' sequence is not stored.
 */
export class Execution implements Engine, AsyncDisposable {
  readonly #deps: ExecutionDeps
  readonly #block: BlockDeps
  readonly #tree: BlockTree
  readonly #journal: BlockJournal
  readonly #sleeping: SleepingBlocks
  readonly #commits: CommitBehind
  readonly #guard: ExecutionGuard
  readonly #offered: OfferedPayloads
  readonly #pending: PendingChain
  #published: HeadRecord
  /** sequence of the published heads */
  #sequence: number
  /** load of the published blocks that are not committed */
  #load: BlockLoad = noLoad
  #limits: BlockLimits = {}
  #phase: 'restoring' | 'open' | 'closed' = 'restoring'

  constructor(deps: ExecutionDeps, opts: ExecutionOptions) {
    const { evm, config, log, clock, watch = new ExecutionWatch(), stages: timer, tries = new Tries(usualTrieCacheBytes), keys } = deps
    const options = completeOptions(opts, deps.committer)
    this.#deps = deps
    this.#guard = new ExecutionGuard(clock, watch)
    this.#offered = new OfferedPayloads({ guard: this.#guard, watch, clock, log }, options.maxPayloadMs)
    const senders = deps.senders ?? createSenders({ maxBytes: senderCacheBytes })
    this.#block = { evm, config, senders, keys, tries, rootThreads: deps.rootThreads, interruptCheck: this.#guard.interruptCheck, timer }
    const isKept = (block: ExecutedBlock): boolean => this.#phase === 'restoring' || this.#isPublished(block)
    const isStored = (block: ExecutedBlock): boolean => isCanonical(deps.kv, block)
    this.#tree = new BlockTree(options.maxTreeBytes, { isKept, isStored, memory: deps.memory })
    const { heads, sequence } = openHeads(deps)
    const committed: BlockId = { number: heads.unsafe.number, hash: heads.unsafe.hash }
    this.#published = recordOf({ heads, committed, base: committed, overlays: [] })
    this.#sequence = sequence
    this.#commits = new CommitBehind(this.#commitDeps(), sequence, options)
    this.#journal = new BlockJournal(deps.journal ?? createMemoryJournal(), log, timer)
    this.#sleeping = new SleepingBlocks({
      ...{ journal: this.#journal, tree: this.#tree, log, view: (): ExecutionView => this.view() },
      execute: (parent, payload): BlockResult =>
        this.#executed(parent, (on) => this.#guard.run(payload.blockNumber, undefined, () => verifyPayload(this.#block, on, payload))),
    })
    this.#pending = new PendingChain({
      ...{ block: this.#block, clock, log, guard: this.#guard, watch, maxMs: options.maxPendingMs },
      head: (): BlockId => this.#published.heads.unsafe,
      onHead: <T>(run: (on: ParentBlock) => T): T => this.#during(this.#published.heads.unsafe, run).value,
      onChange: (): void => this.#publish(this.#published),
    })
    this.#restore()
    this.#phase = 'open'
  }

  #commitDeps(): CommitDeps {
    return {
      ...this.#deps,
      published: (): Published => ({ record: this.#published, sequence: this.#sequence, load: this.#load }),
      sizeOf: (block): number => this.#tree.loadOf(block.hash)?.sizeBytes ?? sizeOfBlock(block),
      loadOf: (blocks): BlockLoad => this.#tree.loadOfChain(blocks, [], noLoad),
      onCommitting: (unwound): void => this.#journalUnwound(unwound),
      onCommitted: (done): void => this.#afterCommit(done),
      onRowsChanged: (): void => this.republish(),
    }
  }

  /** The newest published heads: frozen, replaced as a whole. */
  get published(): HeadRecord {
    return this.#published
  }

  /** Execution of flashblocks. */
  get pending(): PendingPort {
    return this.#pending
  }

  /** Returns the chain at this instant. */
  view(): ExecutionView {
    const { config, clock, history } = this.#deps
    const reader = this.#commits.snapshot()
    const view = createChainView(reader, config, recordAt(this.#published, clock.nowMs()), { history, executed: this.#tree })
    if (view) return view
    reader[Symbol.dispose]()
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.#published.committed.hash}, the committed head` })
  }

  async insert(payload: Payload, ahead?: SendersAhead): Promise<InsertResult> {
    return this.insertPayload(payload, ahead)
  }

  /** Does the same as `insert`, synchronously. */
  insertPayload(payload: Payload, ahead?: SendersAhead): InsertResult {
    this.#requireOpen()
    const claim = claimedHeader(this.#deps.config.schedule, payload)
    if (claim.kind === 'invalid') return claim
    if (this.#journal.holds(payload.blockHash)) this.#makeRoom() // it is executed when a head names it
    if (this.#journalIfKnown(payload.blockHash)) return { kind: 'valid' }
    this.#makeRoom()
    const parent = { hash: payload.parentHash, number: payload.blockNumber - 1 }
    const execute = (on: ParentBlock): BlockResult =>
      this.#pending.sealed(on, payload) ?? verifyClaimed({ ...this.#block, ahead }, on, payload, claim.header)
    const result = this.#executed(parent, (on) => this.#offered.execute(payload, () => execute(on)))
    return result.kind === 'invalid' ? result : { kind: 'valid' }
  }

  async build(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal?: AbortSignal,
    onForcedExecuted?: () => void,
    ahead?: SendersAhead,
  ): Promise<BuildResult> {
    this.#requireOpen()
    this.#makeRoom()
    const { pool } = this.#deps
    const block = { ...this.#block, ahead }
    const result =
      pool === undefined || attributes.noTxPool || seal?.aborted
        ? this.#executed(parent, (on) => this.#guard.run(parent.number + 1, unlimited, () => buildBlock(block, on, attributes)))
        : await this.#buildWith({ pool, block }, parent, attributes, { seal, onForcedExecuted })
    if (result.kind === 'invalid') return result
    return { kind: 'built', payload: payloadOfBlock(result.block, result.block.hash) }
  }

  async #buildWith(from: BuildSources, parent: BlockId, attributes: PayloadAttributes, timing: BuildTiming): Promise<BlockResult> {
    let ms = 0
    const during = <T>(run: (on: ParentBlock) => T): T => {
      const ran = this.#during(parent, (on) => this.#guard.run(parent.number + 1, unlimited, () => run(on)))
      ms += ran.ms
      return ran.value
    }
    const { clock, flashblocks } = this.#deps
    const built = await buildFromPool({ ...from, clock, flashblocks, limits: (): BlockLimits => this.#limits, during }, attributes, timing)
    return built.kind === 'invalid'
      ? built
      : this.#executed(parent, (on) => ({ kind: 'executed', block: built.build.seal(on), earlierMs: ms }))
  }

  async setHeads(asked: Heads): Promise<void> {
    this.#requireOpen()
    let branch = this.#wokenBranch(asked)
    if (this.#commits.settleUnless(branch)) branch = this.#wokenBranch(asked)
    const heads = keepFinalized(asked, this.#published.heads.finalized)
    if (sameHeads(this.#published.heads, heads)) return
    this.#journalBlocks(branch.blocks)
    this.#journal.appendHeads({ ...heads, sequence: this.#sequence + 1 })
    this.#sequence++
    this.#publishBranch(heads, branch)
    this.#deps.log.debug('heads set', { number: heads.unsafe.number, hash: heads.unsafe.hash, overlays: branch.blocks.length })
  }

  async heads(): Promise<Heads> {
    return this.#published.heads
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    using view = this.view()
    const hash = typeof at === 'number' ? view.canonicalHash(at) : at
    // a block without known ancestors counts as unknown
    const found = hash && (view.branch(hash) ? view.block(hash)?.block : this.#sleeping.read(view, hash))
    return found && payloadOfBlock(found, hash)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    this.#sleeping.wake(block.hash)
    using view = this.view()
    const state = view.state(block)
    return state && (state.account(account)?.storageRoot ?? emptyRoot)
  }

  /** Commits all published blocks now. @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED (fatal) */
  commit(): void {
    this.#commits.run()
  }

  /** Adds parts to a partial state. Resolves when readers see them. @throws as `commit` */
  enter(parts: FetchedState): Promise<void> {
    return this.#commits.enter(parts)
  }

  /** Publishes the same heads again, so that readers get new snapshots of the store. */
  republish(): void {
    if (this.#phase === 'open') this.#publish(this.#published)
  }

  /** Sets limits of later blocks that are built with transactions of the pool. */
  limitBlocks(change: BlockLimits): void {
    this.#limits = { ...this.#limits, ...change }
  }

  sizes(): HeldSizes {
    const { sizeBytes: journalBytes } = this.#journal
    return { journalBytes, treeBytes: this.#tree.sizeBytes, overlayBlocks: this.#published.overlays.length, reused: this.#pending.reused }
  }

  /** Commits all published blocks and refuses further calls. Blocks that cannot be committed stay in the journal for the next start. */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#pending[Symbol.dispose]()
    try {
      if (!this.#commits.run(commitBounds.closeMs))
        this.#deps.log.info('closed before all blocks were committed, the others stay in the journal')
    } catch (error) {
      if (!isFault(error, 'EXECUTION_STOPPED')) this.#deps.log.warn('closed without commit, blocks stay in the journal', { error })
    } finally {
      this.#commits.stop()
      this.#tree[Symbol.dispose]()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #requireOpen(): void {
    if (this.#phase === 'closed') throw new Error('execution: closed')
  }

  /** Makes room for a new block. @throws as `CommitBehind.makeRoom` */
  #makeRoom(): void {
    this.#commits.makeRoom()
    if (this.#journal.isLong) this.#pruneJournal(0)
  }

  /** Returns whether a block is valid without execution. Journals it first if no record would restore it after a kill. */
  #journalIfKnown(hash: Hash): boolean {
    if (this.#journal.holds(hash)) return true
    using view = this.view()
    const branch = view.branch(hash)
    if (branch) this.#journalBlocks(branch.blocks)
    return branch !== undefined
  }

  /** Appends the blocks of a branch that the journal no longer has: they were committed, then unwound. */
  #journalBlocks(blocks: readonly ExecutedBlock[]): void {
    const unpublished = blocks.slice(blocks.findLastIndex((block) => this.#phase === 'restoring' || this.#isPublished(block)) + 1)
    for (const block of unpublished) this.#journal.appendBlock(block)
  }

  /** Appends the last blocks of the store, which the next transaction removes, so that they stay known. */
  #journalUnwound(count: number): void {
    for (const block of lastBlocks(this.#deps.kv, this.#published.committed.number, count)) this.#journal.appendSleeping(block)
  }

  /** Returns the branch to make canonical. Its sleeping blocks are executed: after a transaction, also those that left the store with it. */
  #wokenBranch(heads: JournalledHeads | Heads): Branch {
    this.#sleeping.wake(heads.unsafe.hash)
    using view = this.view()
    return branchOfHeads(view, heads, this.#published.heads.finalized)
  }

  /** Runs a function on a known parent while the state after it is open. @returns its value and the blocks from the committed chain to the parent */
  #during<T>(parent: BlockId, run: (on: ParentBlock) => T): { value: T; ms: number; branch: readonly ExecutedBlock[] } {
    this.#requireOpen()
    this.#sleeping.wake(parent.hash)
    using view = this.view()
    const on = view.provenParent(parent.hash)
    if (on === undefined) throw engineFault('UNKNOWN_PARENT', parent)
    const { clock } = this.#deps
    const startMs = clock.elapsedMs()
    const value = run(on)
    return { value, ms: clock.elapsedMs() - startMs, branch: view.branch(parent.hash)?.blocks ?? [] }
  }

  /** Executes a block on a known parent, as `executeProven`, and keeps it if it is valid. @param execute `earlierMs` of its result is execution time before this call */
  #executed(parent: BlockId, execute: (on: ParentBlock) => BlockResult & { readonly earlierMs?: number }): BlockResult {
    const { log, onExecuted } = this.#deps
    const { value: result, ms: lastMs, branch } = this.#during(parent, (on) => executeProven(on, execute))
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

  /** Restores the youngest heads of the journal whose blocks can be restored. Meanwhile the tree drops no block. */
  #restore(): void {
    const { log, config } = this.#deps
    const startMs = this.#deps.clock.elapsedMs()
    using known = this.view()
    const journalled = this.#journal.load((hash) => known.header(hash) !== undefined)
    const later = journalled.filter(({ sequence }) => sequence > this.#sequence).reverse()
    this.#sequence = Math.max(this.#sequence, ...later.map(({ sequence }) => sequence))
    for (const stored of later) {
      try {
        const branch = this.#wokenBranch(stored)
        using view = this.view()
        const restored = headsOf(config, stored, ({ hash }) => view.block(hash)?.block)
        const heads = keepFinalized(restored, this.#published.heads.finalized)
        this.#publishBranch(heads, branch)
        const ms = this.#deps.clock.elapsedMs() - startMs
        log.info('journal replayed', { number: heads.unsafe.number, hash: heads.unsafe.hash, blocks: branch.blocks.length, ms })
        return
      } catch (error) {
        log.warn('journalled heads not restored', { number: stored.unsafe.number, hash: stored.unsafe.hash, error })
      }
    }
    this.#publish(this.#published)
  }

  #publishBranch(heads: Heads, { ancestor: base, blocks: overlays }: Branch): void {
    const { committed, overlays: before } = this.#published
    this.#load = this.#tree.loadOfChain(overlays, before, this.#load)
    this.#pending.follow(heads.unsafe)
    this.#publish({ heads, committed, base, overlays })
    this.#commits.onPublished()
  }

  #publish(record: HeadRecord): void {
    this.#published = recordOf({ ...record, pending: this.#pending.blocks })
    this.#deps.onPublish?.(this.#published)
  }

  #isPublished({ header, hash }: ExecutedBlock): boolean {
    const { base, overlays } = this.#published
    return overlays[header.number - base.number - 1]?.hash === hash
  }

  #afterCommit({ head, base, roundSequence }: Committed): void {
    const { heads, base: before, overlays } = this.#published
    const count = base.number - before.number
    this.#load = count === overlays.length ? noLoad : this.#tree.loadWithout(this.#load, overlays.slice(0, count))
    this.#publish({ heads, committed: head, base, overlays: overlays.slice(count) })
    if (roundSequence === undefined) return
    this.#tree.dropUpTo(Math.min(heads.finalized.number, head.number))
    this.#journal.beginSegment()
    this.#pruneJournal(head.number, roundSequence)
  }

  /** Removes journal segments without needed blocks, after the running transaction, which may unwind blocks. @param above of `BlockJournal.prune` */
  #pruneJournal(above: number, committedSequence?: number): void {
    this.#commits.settle()
    if (committedSequence !== this.#sequence) this.#journal.appendHeads({ ...this.#published.heads, sequence: this.#sequence })
    using view = this.view()
    const { number: head } = this.#published.committed
    const isStored = ({ number, hash }: BlockId): boolean => number <= head && view.known.committed(hash) !== undefined
    this.#journal.prune(this.#tree, above, isStored)
  }
}

/**
 * Creates the execution half over a store and a journal: opens the chain, or begins it with the genesis block, and restores acknowledged blocks that
 * were not committed when the last process ended.
 * @throws Fault WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED (fatal)
 */
export function createExecution(deps: ExecutionDeps, opts: ExecutionOptions = {}): Execution {
  return new Execution(deps, opts)
}

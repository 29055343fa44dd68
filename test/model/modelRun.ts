import { buildBlock } from '#block/building/buildBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { retainAllRows } from '#blockchain/segments/rowPruner'
import type { ExecutionView } from '#blockchain/view/chainView'
import { isActive } from '#chainspec/forks'
import { l2RefOf } from '#chainspec/l2Ref'
import type { BuildResult, Heads, InsertResult } from '#engine/port'
import { isFault } from '#lib/fault'
import { overlay } from '#state/stateStack'
import { attributesAt } from '#test/harness/chain/blocks'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { ChainModel, type ModelBlock, type ModelHeads } from './chainModel.ts'
import { checkView, type ExpectedChain } from './checks.ts'
import { type Death, keptBlocks, NodeProcess, type Settings } from './nodeProcess.ts'
import { holds, Mismatch, same } from './same.ts'
import { attributesAction, genesisWorld, type Roll, TransactionSource } from './transactions.ts'
import { type Action, applyBlock, stateTrie } from './world.ts'

type HeldView = { readonly view: ExecutionView; readonly chain: ExpectedChain }

/** Maximum number of views that are open at once. */
const maxViews = 3
/** A chain of this many unfinalized blocks is finalized in part before it grows. */
export const maxUnfinalized = 60

/** The product and the model side by side: each operation runs on both and compares their results. */
export class ModelRun {
  readonly node: NodeProcess
  readonly chain: ChainModel
  readonly #source = new TransactionSource()
  /** What happened so far: without side branches, deep reorgs and kills a run shows little. */
  readonly counts = {
    blocks: 0,
    reorgs: 0,
    deepestReorg: 0,
    starts: 0,
    killsInWrites: 0,
    killsInPruning: 0,
    oldestState: 0,
    recorded: 0,
    computed: 0,
    proved: 0,
    moved: 0,
    logFiles: 0,
    oldestBlock: 0,
  }
  #views: HeldView[] = []
  #branches = 0
  /** The highest block that may be the oldest one with a state. */
  #mayBeOldest = 0
  /** The highest block that may be the oldest one with receipts, and with logs. */
  readonly #mayBeOldestRow = { receipts: 0, logs: 0 }
  /** Whether each block may begin a commit. */
  readonly #commitsByBounds: boolean

  constructor(dir: string, settings: Settings) {
    this.node = new NodeProcess(dir, settings)
    this.node.start()
    using view = this.node.execution.view()
    const hash = this.node.config.genesis.l2.hash
    const found = view.block(hash)
    holds('the genesis block is unknown', found !== undefined)
    const payload = payloadOfBlock(found.block, hash)
    same('state root of the genesis', payload.stateRoot, stateTrie(genesisWorld).root)
    const genesis = { ref: l2RefOf(this.node.config, payload), payload, parent: undefined, actions: [], results: [], world: genesisWorld }
    const forgetsSides = settings.maxTreeBytes < 2 ** 20
    this.#commitsByBounds = settings.tickMs > 0 || forgetsSides
    this.chain = new ChainModel(genesis, forgetsSides)
  }

  /** The chain that a new view must show. */
  get expected(): ExpectedChain {
    const { heads, canonical } = this.chain
    return { heads, canonical, placeOf: (hash) => this.chain.placeOf(hash) }
  }

  /** Returns an open block that the product knows: the wanted one, or the unsafe head when the product may have forgotten it and has. */
  async known(wanted: ModelBlock): Promise<ModelBlock> {
    const payload = await this.node.execution.payload(wanted.ref.hash)
    if (payload) {
      same(`payload of block ${wanted.ref.number}`, payload, wanted.payload)
      // a view has a block that sleeps in the journal once it is executed; a small tree may drop it, or a block below it, meanwhile
      if ((await this.node.execution.storageRoot(payload.feeRecipient, wanted.ref)) !== undefined) return wanted
    }
    if (this.node.isDead) return wanted
    holds(`block ${wanted.ref.number} ${wanted.ref.hash} is lost`, !this.chain.mustKnow(wanted))
    this.chain.forget(wanted)
    return this.chain.heads.unsafe
  }

  #attributes(roll: Roll, parent: ModelBlock): { readonly attributes: PayloadAttributes; readonly actions: readonly Action[] } {
    const number = parent.ref.number + 1
    const actions = this.#source.next(roll, parent.world, number)
    const branch = ++this.#branches
    const raws = actions.map(({ raw }) => raw)
    const attributes = attributesAt(this.node.schedule, number, raws, branch)
    return { attributes, actions: [attributesAction(attributes.transactions[0] as Uint8Array), ...actions] }
  }

  /** Predicts a block, and compares the state root and the outcome of each transaction. */
  #predict(parent: ModelBlock, payload: Payload, actions: readonly Action[], executed: readonly Executed[]): ModelBlock {
    const { schedule, config } = this.node
    const { baseFeePerGas: baseFee, feeRecipient: beneficiary, timestamp, stateRoot } = payload
    const destroys = !isActive(schedule, 'ecotone', timestamp)
    const gasUsed = executed.map((each) => each.gasUsed)
    const { world, results } = applyBlock(parent.world, actions, gasUsed, { baseFee, beneficiary, destroys })
    for (const [index, { succeeded, logs }] of results.entries()) {
      const { receipt } = executed[index] as Executed
      same(
        `outcome of transaction ${index} of block ${payload.blockNumber}`,
        { succeeded: receipt.succeeded, logs: receipt.logs },
        { succeeded, logs },
      )
    }
    same(`state root of block ${payload.blockNumber}`, stateRoot, stateTrie(world).root)
    return { ref: l2RefOf(config, payload), payload, parent, actions, results, world }
  }

  /** Has the product build a block. */
  async build(roll: Roll, on: ModelBlock): Promise<ModelBlock> {
    const parent = await this.known(on)
    const { attributes, actions } = this.#attributes(roll, parent)
    const built = await this.#buildOn(parent, attributes)
    if (built === undefined) return this.build(roll, this.chain.heads.unsafe)
    if (built.kind === 'invalid') throw new Mismatch(`block ${parent.ref.number + 1} is not built: ${built.reason}`)
    using view = this.node.execution.view()
    const receipts = view.receipts(built.payload.blockHash)
    holds(`receipts of the built block ${built.payload.blockHash} are missing`, receipts !== undefined)
    const block = this.#predict(parent, built.payload, actions, receipts)
    this.#add(block)
    return block
  }

  /** @returns undefined when the build began a commit, which dropped the parent */
  async #buildOn(parent: ModelBlock, attributes: PayloadAttributes): Promise<BuildResult | undefined> {
    this.#noteBounds()
    try {
      return await this.node.execution.build(parent.ref, attributes)
    } catch (error) {
      if (!isFault(error, 'UNKNOWN_PARENT') || this.chain.mustKnow(parent)) throw error
      this.chain.forget(parent)
      return undefined
    }
  }

  /** Builds consecutive blocks that the product does not know. */
  async aside(roll: Roll, on: ModelBlock, count: number): Promise<readonly ModelBlock[]> {
    let parent = await this.known(on)
    using view = this.node.execution.view()
    let below = view.parent(parent.ref.hash)
    holds(`the state of block ${parent.ref.number} is missing`, below !== undefined)
    const blocks: ModelBlock[] = []
    for (let i = 0; i < count; i++) {
      const { attributes, actions } = this.#attributes(roll, parent)
      const built = buildBlock(this.node.block, below, attributes)
      if (built.kind === 'invalid') throw new Mismatch(`block ${parent.ref.number + 1} is not built: ${built.reason}`)
      const { header, hash, executed, diff, trie } = built.block
      parent = this.#predict(parent, payloadOfBlock(built.block, hash), actions, executed)
      below = { header, hash, state: overlay(below.state, diff, trie, { number: header.number, hash }) }
      blocks.push(parent)
    }
    return blocks
  }

  /** Inserts a payload. @returns undefined when its parent is unknown */
  async insert(payload: Payload): Promise<InsertResult | undefined> {
    this.#noteBounds()
    try {
      return await this.node.execution.insert(payload)
    } catch (error) {
      if (isFault(error, 'UNKNOWN_PARENT')) return undefined
      throw error
    }
  }

  /** Inserts a valid block whose parent may be unknown. @returns whether the product knows it now */
  async offer(block: ModelBlock): Promise<boolean> {
    const { parent } = block
    const result = await this.insert(block.payload)
    if (this.node.isDead) return false
    const what = `insertion of block ${block.ref.number} ${block.ref.hash}`
    if (result) same(what, result, { kind: 'valid' })
    else holds(`${what}: its parent is lost`, parent !== undefined && !this.chain.mustKnow(parent))
    if (result) this.#add(block)
    return result !== undefined
  }

  #add(block: ModelBlock): void {
    this.chain.add(block)
    this.counts.blocks++
  }

  async setHeads(heads: ModelHeads): Promise<void> {
    this.#noteBounds()
    this.chain.asked = heads
    try {
      await this.node.execution.setHeads(refsOf(heads))
    } catch (error) {
      if (isFault(error, 'INVALID_FORKCHOICE')) this.chain.asked = undefined
      throw error
    }
    this.#acknowledge(heads)
  }

  #acknowledge(heads: ModelHeads): void {
    const { unsafe, finalized } = heads
    const prunable = Math.min(finalized.ref.number, unsafe.ref.number - keptBlocks(this.node.retention))
    this.#mayBeOldest = Math.max(this.#mayBeOldest, prunable)
    for (const table of ['receipts', 'logs'] as const) {
      const kept = keptBlocks({ history: this.node.rows[table] })
      const oldest = Math.min(finalized.ref.number, unsafe.ref.number - kept)
      this.#mayBeOldestRow[table] = Math.max(this.#mayBeOldestRow[table], oldest)
    }
    const removed = this.chain.acknowledge(heads)
    this.counts.deepestReorg = Math.max(this.counts.deepestReorg, removed)
    if (removed > 0) this.counts.reorgs++
  }

  /** Records proofs of committed blocks for some steps. */
  record(steps: number, maxMs: number): void {
    const { recorder } = this.node
    for (let i = 0; i < steps; i++) {
      const { recorded, computed } = recorder.step(maxMs)
      this.counts.recorded += recorded
      this.counts.computed += computed
    }
  }

  commit(): void {
    this.chain.noteCommit()
    this.node.execution.commit()
  }

  async runTimers(count: number): Promise<void> {
    this.chain.noteCommit()
    await this.node.runTimers(count)
  }

  /** Compares the oldest state with the retentions so far: it never falls, and never exceeds the limit of the retentions and the finalized block. */
  checkOldest(view: ExecutionView): void {
    const { oldestState, oldestProof } = view
    const { counts } = this
    holds(`oldest state ${oldestState}, at most ${this.#mayBeOldest}`, oldestState <= this.#mayBeOldest)
    holds(`oldest state ${oldestState}, before ${counts.oldestState}`, oldestState >= counts.oldestState)
    holds(
      `oldest proof ${oldestProof}`,
      oldestProof >= oldestState && oldestProof <= Math.max(oldestState, this.chain.heads.finalized.ref.number),
    )
    counts.oldestState = oldestState
    this.#checkOldestRows(view)
  }

  /** Compares the oldest blocks with rows with the retentions so far. */
  #checkOldestRows({ oldestBlock, oldestLogs }: ExecutionView): void {
    const { receipts, logs } = this.#mayBeOldestRow
    holds(`oldest block ${oldestBlock}, at most ${receipts}`, oldestBlock <= receipts)
    holds(`oldest block ${oldestBlock}, before ${this.counts.oldestBlock}`, oldestBlock >= this.counts.oldestBlock)
    holds(`oldest logs ${oldestLogs}, at most ${Math.max(receipts, logs)}`, oldestLogs <= Math.max(receipts, logs))
    this.counts.oldestBlock = oldestBlock
  }

  /** Moves finalized blocks to segment files. Open views end when rows that they have may be removed with their file. */
  async move(steps: number): Promise<void> {
    if (this.node.rows !== retainAllRows) this.dropViews()
    await this.node.move(steps)
    this.counts.moved = this.node.moved
    this.counts.logFiles = this.node.logFiles
  }

  /** Ends the process and starts the next one on its directory. @param retention of the next one */
  async restart(how: 'closed' | 'killed', death?: Death, retention = this.node.retention): Promise<void> {
    this.dropViews()
    if (how === 'closed') {
      this.chain.noteCommit()
      await this.node.execution.close()
    }
    await this.node.end()
    this.node.retention = retention
    this.node.start(death)
    await this.#settleHeads()
  }

  /** Ends a process whose last write was made, and starts the next one. */
  async revive(): Promise<void> {
    this.counts.killsInWrites++
    this.counts.killsInPruning = this.node.killsInPruning
    this.dropViews()
    await this.node.end()
    this.node.start()
    await this.#settleHeads()
  }

  /** Compares the heads after a start with the acknowledged ones, or those of the call that a kill interrupted. */
  async #settleHeads(): Promise<void> {
    const found = await this.node.execution.heads()
    const { asked, heads } = this.chain
    const applied = asked && isSame(found, asked) ? asked : heads
    same('heads after a start', hashesOf(found), hashesOf(refsOf(applied)))
    this.#acknowledge(applied)
    this.counts.starts++
  }

  check(roll: Roll): void {
    using view = this.node.execution.view()
    checkView(roll, view, this.expected)
  }

  holdView(): void {
    if (this.#views.length >= maxViews) this.#views.shift()?.view[Symbol.dispose]()
    const { heads, canonical } = this.chain
    const places = new Map<Hash, { readonly block: ModelBlock; readonly index: number }>()
    for (const block of canonical) for (const [index, { hash }] of block.actions.entries()) places.set(hash, { block, index })
    this.#views.push({ view: this.node.execution.view(), chain: { heads, canonical, placeOf: (hash) => places.get(hash) } })
  }

  /** Compares the oldest open view with the chain when it was opened. */
  checkHeldView(roll: Roll): void {
    const [held] = this.#views
    if (held) checkView(roll, held.view, held.chain)
    if (held && roll(2) === 0) this.#views.shift()?.view[Symbol.dispose]()
  }

  dropViews(): void {
    for (const { view } of this.#views) view[Symbol.dispose]()
    this.#views = []
  }

  async end(): Promise<void> {
    this.dropViews()
    await this.node.end()
  }

  /** Notes the commits that any call may begin when blocks reach their bound. */
  #noteBounds(): void {
    if (this.#commitsByBounds) this.chain.noteCommit()
  }
}

type Executed = {
  readonly gasUsed: bigint
  readonly receipt: { readonly succeeded: boolean; readonly logs: readonly unknown[] }
}

export const refsOf = ({ unsafe, safe, finalized }: ModelHeads): Heads => ({ unsafe: unsafe.ref, safe: safe.ref, finalized: finalized.ref })
const hashesOf = ({ unsafe, safe, finalized }: Heads) => [unsafe.hash, safe.hash, finalized.hash]
const isSame = (found: Heads, heads: ModelHeads): boolean => hashesOf(found).join() === hashesOf(refsOf(heads)).join()

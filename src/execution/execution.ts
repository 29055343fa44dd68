import type { Genesis } from '#chain/genesis'
import { verifyGenesisHash } from '#chain/genesis'
import { l2RefOf } from '#chain/l2Ref'
import { engineFault } from '#engine/faults'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import type { Evm } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { type Address, emptyRoot, type Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { BlockTree } from './blockTree.ts'
import { type Branch, headsRefusal } from './branch.ts'
import { buildBlock } from './buildBlock.ts'
import * as store from './chainStore.ts'
import { type ChainView, createChainView } from './chainView.ts'
import { commitBranch, commitGenesis } from './commit.ts'
import type { BlockDeps, BlockResult, ParentBlock } from './executeBlock.ts'
import type { ExecutedBlock } from './executedBlock.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import { executionFault } from './faults.ts'
import { genesisBlock } from './genesisBlock.ts'
import type { HeadRecord } from './headRecord.ts'
import { payloadOfBlock } from './payloadBlock.ts'
import { createSenders } from './senders.ts'
import { claimedHeader, verifyClaimed } from './verifyPayload.ts'

export type ExecutionDeps = {
  readonly kv: Kv
  readonly evm: Evm
  readonly config: ExecutionConfig
  /** Read only when the store is empty. */
  readonly genesis: () => Genesis
  readonly clock: Clock
  readonly log: Log
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Told of each block that was executed, whatever becomes of it, and how long it took. */
  readonly onExecuted?: (block: ExecutedBlock, ms: number) => void
}

export type ExecutionOptions = {
  /** of executed blocks kept in memory */
  readonly maxTreeBytes?: number
}

const defaultTreeBytes = 256 * 2 ** 20
const senderCacheBytes = 32 * 2 ** 20

/** The execution half: the engine, import of payloads, and views for readers. */
export interface Execution extends Engine {
  /** `insert`, at once. */
  insertPayload(payload: Payload): InsertResult
  /** The newest published heads: frozen, replaced as a whole. */
  readonly published: HeadRecord
  /** The chain as it is now. */
  view(): ChainView
}

class LocalExecution implements Execution {
  readonly #deps: ExecutionDeps
  readonly #block: BlockDeps
  readonly #tree: BlockTree
  #published: HeadRecord

  constructor(deps: ExecutionDeps, opts: ExecutionOptions) {
    const { evm, config } = deps
    this.#deps = deps
    this.#block = { evm, config, senders: createSenders({ maxBytes: senderCacheBytes }) }
    this.#tree = new BlockTree(opts.maxTreeBytes ?? defaultTreeBytes)
    this.#published = recordOf(openHeads(deps))
  }

  get published(): HeadRecord {
    return this.#published
  }

  view(): ChainView {
    const reader = this.#deps.kv.snapshot()
    const view = createChainView(reader, this.#deps.config, this.#published, (hash) => this.#tree.get(hash))
    if (view) return view
    reader[Symbol.dispose]()
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.#published.committed.hash}, the head that was committed` })
  }

  async insert(payload: Payload): Promise<InsertResult> {
    return this.insertPayload(payload)
  }

  insertPayload(payload: Payload): InsertResult {
    const claim = claimedHeader(this.#deps.config.schedule, payload)
    if (claim.kind === 'invalid') return claim
    using view = this.view()
    if (view.header(payload.blockHash)) return { kind: 'valid' }
    const parent = this.#parent(view, { hash: payload.parentHash, number: payload.blockNumber - 1 })
    const result = this.#timed(() => verifyClaimed(this.#block, parent, payload, claim.header))
    return result.kind === 'invalid' ? result : { kind: 'valid' }
  }

  async build(parent: BlockId, attributes: PayloadAttributes): Promise<BuildResult> {
    using view = this.view()
    const on = this.#parent(view, parent)
    const result = this.#timed(() => buildBlock(this.#block, on, attributes))
    if (result.kind === 'invalid') return result
    return { kind: 'built', payload: payloadOfBlock(this.#deps.config.schedule, result.block, result.block.hash) }
  }

  async setHeads(heads: Heads): Promise<void> {
    const { kv, onCommit, log, clock } = this.#deps
    const { committed, heads: before } = this.#published
    const branch = this.#plan(heads)
    const unwound = committed.number - branch.ancestor.number
    if (branch.blocks.length === 0 && unwound === 0 && sameLabels(before, heads)) return
    const startMs = clock.nowMs()
    onCommit?.('begin')
    kv.write((tx) => commitBranch(tx, committed, branch, heads))
    onCommit?.('end')
    this.#published = recordOf(heads)
    this.#tree.dropUpTo(heads.finalized.number)
    const { number, hash } = heads.unsafe
    log.debug('heads set', { number, hash, added: branch.blocks.length, unwound, ms: clock.nowMs() - startMs })
  }

  /** The branch that makes the heads true. */
  #plan(heads: Heads): Branch {
    const refused = (label: keyof Heads, reason: string): Error =>
      engineFault('INVALID_FORKCHOICE', { label, hash: heads[label].hash, reason })
    using view = this.view()
    const branch = view.branch(heads.unsafe.hash)
    if (branch === undefined) throw refused('unsafe', 'the block is not known')
    const refusal = headsRefusal(view.known, branch, heads)
    if (refusal) throw refused(refusal.label, refusal.reason)
    if (branch.ancestor.number < this.#published.heads.finalized.number) throw refused('unsafe', 'it leaves out the finalized head')
    return branch
  }

  async heads(): Promise<Heads> {
    return this.#published.heads
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    using view = this.view()
    const hash = typeof at === 'number' ? view.canonicalHash(at) : at
    const found = hash === undefined ? undefined : view.block(hash)
    return found && payloadOfBlock(this.#deps.config.schedule, found.block, found.hash)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    using view = this.view()
    const state = view.state(block)
    return state && (state.account(account)?.storageRoot ?? emptyRoot)
  }

  #parent(view: ChainView, id: BlockId): ParentBlock {
    const parent = view.parent(id.hash)
    if (parent === undefined) throw engineFault('UNKNOWN_PARENT', id)
    return parent
  }

  /** Executes, and keeps the block if it is valid. */
  #timed(execute: () => BlockResult): BlockResult {
    const { clock, log, onExecuted } = this.#deps
    const startMs = clock.nowMs()
    const result = execute()
    const ms = clock.nowMs() - startMs
    if (result.kind === 'invalid') {
      log.debug('block refused', { reason: result.reason, ms })
      return result
    }
    const { header, hash, transactions } = result.block
    this.#tree.add(result.block)
    onExecuted?.(result.block, ms)
    log.debug('block executed', { number: header.number, hash, txs: transactions.length, gas: header.gasUsed, ms })
    return result
  }
}

const sameLabels = (a: Heads, b: Heads): boolean => a.safe.hash === b.safe.hash && a.finalized.hash === b.finalized.hash

function recordOf(heads: Heads): HeadRecord {
  const { number, hash } = heads.unsafe
  return Object.freeze({ heads: Object.freeze({ ...heads }), committed: { number, hash }, overlays: Object.freeze([]) })
}

/** The heads that the store had when it was closed, whatever closed it; a store without a chain gets the genesis block. */
function openHeads(deps: ExecutionDeps): Heads {
  const { kv, config } = deps
  const existing = readHeads(deps)
  if (existing) return existing
  const genesis = genesisBlock(deps.genesis(), config.schedule)
  verifyGenesisHash(config, genesis.header)
  kv.write((tx) => commitGenesis(tx, genesis))
  const heads = readHeads(deps)
  if (heads === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'the genesis block that was just written' })
  return heads
}

/** @throws Fault GENESIS_MISMATCH (fatal) when the store holds another chain, CHAIN_STORE_DAMAGED (fatal) */
function readHeads({ kv, config }: ExecutionDeps): Heads | undefined {
  using reader = kv.snapshot()
  const stored = store.readHeads(reader)
  if (stored === undefined) return undefined
  const genesis = store.readGenesisId(reader)
  if (genesis?.hash !== config.genesis.l2.hash) {
    throw executionFault('GENESIS_MISMATCH', { stored: genesis?.hash ?? 'none', configured: config.genesis.l2.hash })
  }
  const refOf = (id: BlockId): Heads['unsafe'] => {
    const block = store.readBlock(reader, id)
    if (block === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${id.number} ${id.hash}` })
    return l2RefOf(config, payloadOfBlock(config.schedule, block, id.hash))
  }
  return { unsafe: refOf(stored.unsafe), safe: refOf(stored.safe), finalized: refOf(stored.finalized) }
}

/**
 * The execution half over a store: opens its chain, or begins it with the genesis block.
 * @throws Fault WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED (fatal)
 */
export function createExecution(deps: ExecutionDeps, opts: ExecutionOptions = {}): Execution {
  return new LocalExecution(deps, opts)
}

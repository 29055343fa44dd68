import { createHash, generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { readHead } from '#blockchain/chainStore'
import { CompletedEngine, StateCompletion, storedBelow } from '#blockchain/completedEngine'
import type { Execution } from '#blockchain/execution'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { headerOfPayload } from '#engine/payloadHeader'
import type { Heads, InsertResult } from '#engine/port'
import { systemClock } from '#lib/clock'
import { FillWalk } from '#node/fill/fillWalk'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { readRegions } from '#proofs/regions'
import { checkRecorded } from '#proofs/verifyProofs'
import { writeWanted } from '#proofs/wanted'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import type { Flavour } from '#snapshot/format/manifest'
import { restoreSnapshot } from '#snapshot/restore/restoreSnapshot'
import { oldestState } from '#state/chainState'
import { readFill } from '#state/fillProgress'
import { isPartialState } from '#state/partialState'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { readNow } from '#test/harness/chain/olderSchemas'
import { beginPartial } from '#test/harness/snapshot/anchoredChain'
import { requireOnlyExecuted } from '#test/harness/snapshot/stateRowSets'
import { WholeNode, WholeRanges } from '#test/harness/state/wholeNode'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { type OpenChain, openChain } from '../../bench/rpc/chains.ts'
import { digestOf } from '../crash/snapshotRuns.ts'
import { must } from '../crash/tally.ts'

/** A node that executes the blocks of another one. */
export type Follower = AsyncDisposable & {
  /** @throws Error unless the block is valid */
  insert(payload: Payload): Promise<void>
  setHeads(heads: Heads): Promise<void>
  commit(): void
  /** Runs a read of a block's state. It may run several times. */
  read(block: BlockId, run: (execution: Execution) => string): Promise<string>
  /** Does a part of the work that a node does in the background. */
  work(): Promise<void>
}

/** A way to begin with a state that was not executed. */
export interface Way {
  readonly name: string
  /** @param chain up to the block with which the node begins, and beyond */
  begin(executed: OpenChain, chain: readonly Payload[], block: BlockId): Promise<void>
  open(executed: OpenChain): Promise<Follower>
  /** Compares the rows of the closed stores. @returns how much of the state is stored @throws Error when rows differ */
  requireRows(executedDir: string): Promise<'whole' | 'a part'>
}

export type WayOptions = {
  readonly datadir: string
  readonly executedDir: string
  readonly genesis: Parameters<typeof openChain>[1]
  readonly config: RollupConfig
}

function requireValid({ kind }: InsertResult, { blockNumber }: Payload, name: string): void {
  must(kind === 'valid', `block ${blockNumber} is ${kind} for the ${name} node`)
}

async function requireEqual(name: string, datadir: string, executedDir: string): Promise<'whole'> {
  const [expected, found] = await Promise.all([executedDir, datadir].map((dir) => digestOf(join(dir, 'chain'))))
  must(expected === found, `the rows of the ${name} node differ`)
  return 'whole'
}

/** A node that is restored from a snapshot. */
export class Restored implements Way {
  readonly name: string
  readonly #flavour: Flavour
  readonly #options: WayOptions

  constructor(options: WayOptions, flavour: Flavour = 'minimal') {
    this.name = flavour === 'minimal' ? 'restored' : flavour
    this.#flavour = flavour
    this.#options = options
  }

  async begin({ kv }: OpenChain, _chain: readonly Payload[], block: BlockId): Promise<void> {
    const { datadir, executedDir, config } = this.#options
    const { signal } = new AbortController()
    const [out, key] = [`${datadir}-snapshot`, generateKeyPairSync('ed25519').privateKey]
    const sizes = { leavesOfChunk: 200, inlineSlots: 30 }
    if (this.#flavour === 'proofs') await recordAll(executedDir, kv)
    const options = { chainDir: join(executedDir, 'chain'), out, config, flavour: this.#flavour, key, sizes, historyBlocks: 32 }
    const made = await createSnapshot({ signal, onProgress: () => {} }, options)
    must(made?.manifest.block.hash === block.hash, 'the snapshot has another block')
    const deps = { clock: systemClock, fetch, signal, onProgress: () => {} }
    await restoreSnapshot(deps, { from: out, config, given: block.hash, datadir, command: 'again' })
  }

  async open(): Promise<Follower> {
    const { datadir, genesis } = this.#options
    await using parts = new AsyncDisposableStack()
    const { execution, kv } = parts.use(await openChain(datadir, genesis))
    const recorder = this.#flavour === 'proofs' ? recorderOf(parts.use(openProofs(join(datadir, 'proofs'))), kv) : undefined
    const kept = parts.move()
    return {
      insert: async (payload) => requireValid(await execution.insert(payload), payload, this.name),
      setHeads: (heads) => execution.setHeads(heads),
      commit: () => execution.commit(),
      read: async (_block, run) => run(execution),
      work: async () => void recorder?.step(20),
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }

  async requireRows(executedDir: string): Promise<'whole'> {
    const { datadir } = this.#options
    if (this.#flavour === 'archive') await requireHistory(datadir, executedDir)
    if (this.#flavour === 'proofs') await requireProofs(datadir)
    return await requireEqual(this.name, datadir, executedDir)
  }
}

const recorderOf = (kv: Kv, chain: Kv): Recorder => new Recorder({ kv, chain, clock: systemClock }, 'all')

/** Records proofs of all blocks. */
async function recordAll(datadir: string, chain: Kv): Promise<void> {
  await using proofs = openProofs(join(datadir, 'proofs'))
  proofs.write((tx) => writeWanted(tx, 0))
  const recorder = recorderOf(proofs, chain)
  while (recorder.step(200).isBehind);
}

/** Compares the values before each block. A row that a block wiped and wrote again may be marked as deleted or not. */
async function requireHistory(...datadirs: readonly [string, string]): Promise<void> {
  const [found, expected] = await Promise.all(
    datadirs.map(async (datadir) => {
      await using kv = openChainKv(join(datadir, 'chain'))
      using reader = kv.snapshot()
      const hash = createHash('sha256')
      for (const { key, value } of reader.range(tables.changes.id, {}))
        hash.update(key).update(Uint8Array.of(value.length)).update(value.subarray(1))
      return `${hash.digest('hex')} from ${oldestState(reader)}`
    }),
  )
  must(found === expected, `the history of the archive node is ${found}, expected ${expected}`)
}

/** Checks each recorded block against its header. */
async function requireProofs(datadir: string): Promise<void> {
  await using kv = openChainKv(join(datadir, 'chain'))
  await using recorded = openProofs(join(datadir, 'proofs'))
  const recorder = recorderOf(recorded, kv)
  while (recorder.step(200).isBehind);
  using chain = kv.snapshot()
  using proofs = recorded.snapshot()
  const head = readHead(chain)?.number ?? 0
  must(readRegions(proofs)[0]?.first === 1, 'the recorded proofs do not begin with block 1')
  for (let number = 1; number <= head; number += 7) {
    const [difference] = checkRecorded({ proofs, chain, head }, number)
    must(difference === undefined, `block ${number} of the proofs: expected ${difference?.expected}, found ${difference?.found}`)
  }
}

/** A node that begins with the root node of a state, fetches what it lacks, and is filled. */
export class Anchored implements Way {
  readonly name = 'anchored'
  readonly #options: WayOptions

  constructor(options: WayOptions) {
    this.#options = options
  }

  async begin({ kv }: OpenChain, chain: readonly Payload[], block: BlockId): Promise<void> {
    const { datadir, config } = this.#options
    const blocks = chain
      .slice(0, block.number + 1)
      .map((payload) => ({ header: headerOfPayload(config.schedule, payload), transactions: payload.transactions }))
    await beginPartial({ number: 0, hash: chain[0]?.blockHash ?? block.hash }, blocks, block, kv, join(datadir, 'chain'))
  }

  async open(executed: OpenChain): Promise<Follower> {
    const { datadir, genesis } = this.#options
    const chain = await openChain(datadir, genesis)
    const { execution, kv } = chain
    const completion = new StateCompletion(execution, new WholeNode(executed.kv))
    const engine = new CompletedEngine(execution, completion)
    const at = (): ReturnType<typeof storedBelow> => {
      using view = execution.view()
      return storedBelow(view, execution.published.heads.unsafe)
    }
    const isPartial = (): boolean => readNow(kv, isPartialState)
    const deps = { clock: systemClock, source: new WholeRanges(executed.kv), store: kv, at, enter: execution.enter.bind(execution) }
    const walk = new FillWalk({ ...deps, pace: async () => {} }, readNow(kv, readFill))
    const { signal } = new AbortController()
    return {
      insert: async (payload) => requireValid(await engine.insert(payload), payload, this.name),
      setHeads: (heads) => engine.setHeads(heads),
      commit: () => execution.commit(),
      read: (block, run) =>
        completion.run(
          async () => run(execution),
          () => block,
        ),
      work: async () => {
        if (isPartial()) await walk.step(signal)
      },
      [Symbol.asyncDispose]: () => chain[Symbol.asyncDispose](),
    }
  }

  async requireRows(executedDir: string): Promise<'whole' | 'a part'> {
    const { datadir } = this.#options
    {
      await using own = openChainKv(join(datadir, 'chain'))
      await using whole = openChainKv(join(executedDir, 'chain'))
      using found = own.snapshot()
      using expected = whole.snapshot()
      requireOnlyExecuted(found, expected)
      if (isPartialState(found)) return 'a part'
    }
    return requireEqual(this.name, datadir, executedDir)
  }
}

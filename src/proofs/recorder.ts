import { readGenesisId, readHead, readHeads } from '#blockchain/chainStore'
import { blockBefore } from '#blockchain/pruning/retention'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { oldestState } from '#state/chainState'
import { readDigests } from '#state/digests/digests'
import { HistoryCache } from '#state/historyCache'
import { countNodes } from '#state/nodeRow'
import type { Kv, KvReader, KvWriter, SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { ChainDistance } from '#types/chainDistance'
import type { Hash } from '#types/ids'
import { blockAt, computedChanges, copiedChanges, firstCopied } from './chainChanges.ts'
import { markGenesis, requireLastBlock, requireSameChain } from './checkProofs.ts'
import { canCopyNodes, takeDigests } from './copiedDigests.ts'
import { isReplaced, recordedStates } from './olderStates.ts'
import { addNewer, addOlder, beginRegion, dropMerged, dropNewest, isPruned, pruneBlocks } from './proofStore.ts'
import { joined, readRegions } from './regions.ts'
import { dropWanted, readWanted } from './wanted.ts'

export type RecorderDeps = {
  /** tables of the proofs */
  readonly kv: Kv
  readonly chain: SnapshotSource
  readonly clock: Pick<Clock, 'elapsedMs'>
}

/** One step: blocks that were recorded, removed because the chain no longer has them, computed backwards, and pruned. */
export type RecorderStep = {
  readonly recorded: number
  readonly unwound: number
  readonly computed: number
  readonly pruned: number
  /** the last recorded block after this step; absent: none was recorded in it */
  readonly last?: number
  /** changed trie nodes of the recorded blocks, and bytes of their rows without indices */
  readonly nodes: number
  readonly nodeBytes: number
  /** blocks that can no longer be copied, from the last recorded one on; they are computed in later steps */
  readonly gap?: { readonly from: number; readonly to: number }
  /** whether further work is due at once */
  readonly isBehind: boolean
}

const noWork: RecorderStep = { recorded: 0, unwound: 0, computed: 0, pruned: 0, nodes: 0, nodeBytes: 0, isBehind: false }

/**
 * Records what each committed block of the chain changed, from the chain's own history, in steps. Each step is one transaction of the proofs' tables
 * and reads one snapshot of the chain, so it continues after any stop, and never delays the chain.
 */
export class Recorder {
  readonly #deps: RecorderDeps
  readonly #window: ChainDistance | 'all'
  /** Whether values of the chain are damaged, so that no older block can be computed. */
  #isStuck = false
  /** Head at which no work was left: there is none until the next head or request. */
  #restedAt: Hash | undefined

  /** @param window states to keep */
  constructor(deps: RecorderDeps, window: ChainDistance | 'all') {
    this.#deps = deps
    this.#window = window
  }

  /**
   * Checks that the proofs are of this chain, which has their last block.
   * @param dir as a fault names it
   * @throws Fault PROOFS_OTHER_CHAIN, PROOFS_AHEAD, PROOFS_BELOW
   */
  check(dir: string): void {
    const { kv, chain: source } = this.#deps
    using chain = source.snapshot()
    const genesis = readGenesisId(chain)
    if (genesis === undefined) return
    kv.write((tx) => {
      requireSameChain(tx, chain, dir)
      requireLastBlock(tx, chain, dir)
      markGenesis(tx, genesis.hash)
    })
  }

  /**
   * Does the most urgent work for a while: removes blocks that the chain replaced, records new ones, removes old ones, computes older ones.
   * @param maxMs time in which it begins further blocks
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal), PROOFS_MISMATCH (fatal for older blocks: none are computed from then on)
   */
  step(maxMs: number): RecorderStep {
    const { kv, chain: source, clock } = this.#deps
    using chain = source.snapshot()
    const head = readHead(chain)
    if (head === undefined) return noWork
    const untilMs = clock.elapsedMs() + maxMs
    const hasTime = (): boolean => clock.elapsedMs() < untilMs
    if (this.#isBehind(chain, head)) {
      this.#restedAt = undefined
      return kv.write((tx) => follow(tx, chain, head, hasTime))
    }
    if (this.#restedAt === head.hash && !this.#hasWanted()) return noWork
    const oldest = this.#oldestKept(chain, head)
    if (oldest !== undefined) {
      const { blocks, isDone } = kv.write((tx) => pruneBlocks(tx, oldest, hasTime))
      return { ...noWork, pruned: blocks, isBehind: !isDone }
    }
    if (this.#isStuck) return noWork
    const first = this.#firstInWindow(chain, head)
    if (!this.#isIncomplete(chain, head, first)) {
      this.#forgetWanted(chain, head)
      this.#restedAt = head.hash
      return noWork
    }
    const computed = this.#complete(chain, { head, first }, hasTime)
    return { ...noWork, computed, isBehind: computed > 0 }
  }

  #complete(chain: KvReader, kept: KeptBlocks, hasTime: () => boolean): number {
    const { kv } = this.#deps
    try {
      return kv.write((tx) => complete(tx, chain, kept, hasTime))
    } catch (error) {
      if (isFault(error, 'PROOFS_MISMATCH')) {
        this.#isStuck = true
        kv.write(dropWanted)
      }
      throw error
    }
  }

  /** Forgets a wanted block that is reached, or cannot be: pruning would make it wanted again. */
  #forgetWanted(chain: KvReader, head: BlockId): void {
    const { kv } = this.#deps
    using proofs = kv.snapshot()
    const isOver = readWanted(proofs) !== undefined && recordedStates(proofs, chain, head.number, new HistoryCache()).window !== undefined
    if (isOver) kv.write(dropWanted)
  }

  #hasWanted(): boolean {
    using proofs = this.#deps.kv.snapshot()
    return readWanted(proofs) !== undefined
  }

  #isBehind(chain: KvReader, head: BlockId): boolean {
    using proofs = this.#deps.kv.snapshot()
    const last = readRegions(proofs).at(-1)?.last
    return last !== head.number || isReplaced(proofs, chain, last)
  }

  /** Returns the oldest block whose state is kept, if there are older ones. While the chain removes replaced blocks, all are kept. */
  #oldestKept(chain: KvReader, head: BlockId): number | undefined {
    if (readHeads(chain)?.base !== undefined) return undefined
    using proofs = this.#deps.kv.snapshot()
    const first = readRegions(proofs)[0]
    if (this.#window === 'all' || first === undefined) return undefined
    const oldest = Math.min(head.number, blockBefore(chain, head.number, this.#window, first.first - 1))
    return isPruned(proofs, oldest) ? undefined : oldest
  }

  /** Returns the oldest block whose state the window has: older ones would be removed at once. */
  #firstInWindow(chain: KvReader, head: BlockId): number {
    return blockBefore(chain, head.number, this.#window, 0)
  }

  #isIncomplete(chain: KvReader, head: BlockId, first: number): boolean {
    using proofs = this.#deps.kv.snapshot()
    return nextToCompute(proofs, chain, { head, first }) !== undefined
  }
}

/** Makes the recorded blocks those of the chain. */
function follow(tx: KvWriter, chain: KvReader, head: BlockId, hasTime: () => boolean): RecorderStep {
  let [recorded, unwound, nodes, nodeBytes] = [0, 0, 0, 0]
  let gap: RecorderStep['gap']
  // what is due next shows in the next step
  const done = (): RecorderStep => ({
    ...noWork,
    ...{ recorded, unwound, nodes, nodeBytes, isBehind: true },
    ...(gap && { gap }),
    last: readRegions(tx).at(-1)?.last ?? 0,
  })
  const isLeft = (number: number): boolean => number > head.number || isReplaced(tx, chain, number)
  for (let last = readRegions(tx).at(-1); last && isLeft(last.last); last = readRegions(tx).at(-1)) {
    dropNewest(tx)
    unwound++
    if (!hasTime()) return done()
  }
  const last = readRegions(tx).at(-1)
  const first = Math.min(firstCopied(chain), head.number)
  const digests = readDigests(chain)
  if (last === undefined) {
    beginRegion(tx, head)
    takeDigests(tx, digests, head.number)
  } else if (last.last < first) {
    beginRegion(tx, blockAt(chain, first))
    gap = { from: last.last + 1, to: first }
  }
  for (let number = (readRegions(tx).at(-1)?.last ?? head.number) + 1; number <= head.number; number++) {
    takeDigests(tx, digests, number)
    const changes = copiedChanges(chain, number)
    addNewer(tx, changes)
    dropMerged(tx, number, hasTime)
    recorded++
    nodes += changes.nodes ? countNodes(changes.nodes) : 0
    nodeBytes += changes.nodes?.length ?? 0
    if (!hasTime()) break
  }
  return done()
}

/** Head of the chain, and the oldest block whose state is kept. */
type KeptBlocks = { readonly head: BlockId; readonly first: number }

/** Returns the number of the next block to compute: the one before the oldest readable state, when an older one is wanted and kept. */
function nextToCompute(proofs: KvReader, chain: KvReader, { head, first }: KeptBlocks): number | undefined {
  const regions = readRegions(proofs)
  const [own, older] = [joined(regions), regions.at(-joined(regions).length - 1)]
  const number = own[0] && own[0].first - 1
  if (number === undefined || recordedStates(proofs, chain, head.number, new HistoryCache()).window === undefined) return undefined
  const wanted = older?.last ?? readWanted(proofs) ?? number
  return number > Math.max(wanted, first, oldestState(chain)) ? number : undefined
}

/** Adds older blocks, the newest first. @returns their number */
function complete(tx: KvWriter, chain: KvReader, kept: KeptBlocks, hasTime: () => boolean): number {
  const cache = new HistoryCache()
  const [own, ofChain] = [readDigests(tx), readDigests(chain)]
  for (let computed = 0; ; ) {
    const number = nextToCompute(tx, chain, kept)
    const region = joined(readRegions(tx))[0]
    if (number === undefined || region === undefined) return computed
    const isCopied = number > firstCopied(chain) && canCopyNodes(own, ofChain, number)
    const state = recordedStates(tx, chain, kept.head.number, cache).at(number, () => undefined)
    const changes = isCopied ? copiedChanges(chain, number) : computedChanges(chain, number, state, own.at(number))
    addOlder(tx, region, changes, blockAt(chain, number - 1))
    computed++
    if (!hasTime()) return computed
  }
}

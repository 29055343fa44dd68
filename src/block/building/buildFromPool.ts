import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '#lib/clock'
import type { PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import type { BlockDeps, ParentBlock } from '../execution/executeBlock.ts'
import type { InvalidBlock } from '../execution/executedBlock.ts'
import { type BlockBuild, beginBuild } from './buildBlock.ts'
import { type FlashblockListener, publishFlashblocks } from './buildFlashblocks.ts'
import type { BuildPool } from './buildPool.ts'

/** A build runs so long at most before others of its thread have their turn. */
const sliceMs = 10

export type PoolBuildDeps = {
  readonly block: BlockDeps
  readonly pool: BuildPool
  readonly clock: Clock
  /** As they are now. */
  readonly limits: () => BlockLimits
  /** Told of the block slice by slice: the forced transactions, the first of the pool, then as often as it wants, and what is left before the seal. */
  readonly flashblocks: FlashblockListener | undefined
  /** Runs with the parent's state open; nothing of it may be kept. */
  readonly during: <T>(run: (on: ParentBlock) => T) => T
}

/** When a build ends, and who is told that the transactions of the attributes are executed. */
export type BuildTiming = { readonly seal: AbortSignal | undefined; readonly onForcedExecuted: (() => void) | undefined }

/**
 * Builds a block of the attributes' own transactions and then of the pool's, the best first, in slices: until nothing fits or the seal is aborted;
 * without a seal until the pool has no more. The first slice comes at once.
 * @returns a build that is to be sealed; 'invalid' when a transaction of the attributes cannot be in the block
 * @throws what `beginBuild` throws, and `during` when the parent is not known any more
 */
export async function buildFromPool(
  deps: PoolBuildDeps,
  attributes: PayloadAttributes,
  { seal, onForcedExecuted }: BuildTiming,
): Promise<{ readonly kind: 'begun'; readonly build: BlockBuild } | InvalidBlock> {
  const { pool, clock, flashblocks, limits, during } = deps
  const begun = during((on) => beginBuild(deps.block, on, attributes))
  if (begun.kind === 'invalid') return begun
  using abandoned = new DisposableStack()
  const build = abandoned.use(begun.build)
  onForcedExecuted?.()
  const watch = flashblocks && publishFlashblocks(deps.block.config, clock, flashblocks)
  const look = (isLast: boolean): void => during((on) => build.look(on, (block) => watch?.look(on, block, isLast)))
  using wait = waitForMore(pool, clock, seal)
  const cursor = pool.best(build.baseFee)
  let lookAtMs = watch ? clock.elapsedMs() : Number.POSITIVE_INFINITY
  if (watch) look(false)
  while (!seal?.aborted) {
    const untilMs = clock.elapsedMs() + sliceMs
    const taken = during((on) => build.takeFrom(on, cursor, limits(), () => clock.elapsedMs() >= untilMs))
    if (taken === 'full' || (taken === 'dry' && seal === undefined)) break
    if (watch && clock.elapsedMs() >= lookAtMs) {
      look(false)
      lookAtMs = nextLookMs(lookAtMs, clock.elapsedMs(), watch.everyMs)
    }
    if (taken === 'dry') await wait.more(lookAtMs)
    await nextTurn()
  }
  if (watch) look(true)
  abandoned.move()
  return begun
}

/** The next of evenly spaced moments that is to come: those that were missed are missed. */
const nextLookMs = (lastMs: number, nowMs: number, everyMs: number): number =>
  lastMs + everyMs * (Math.floor((nowMs - lastMs) / everyMs) + 1)

/** Notices what is added from now on, and the seal. */
function waitForMore(
  pool: BuildPool,
  clock: Clock,
  seal: AbortSignal | undefined,
): Disposable & { readonly more: (untilMs: number) => Promise<void> } {
  let hasMore = false
  let wake: (() => void) | undefined
  const noticed = (): void => {
    hasMore = true
    wake?.()
  }
  const added = pool.onAdded(noticed)
  seal?.addEventListener('abort', noticed, { once: true })
  return {
    /** When something was added since the last time, or the seal is aborted, or at a moment of `elapsedMs`. */
    async more(untilMs): Promise<void> {
      using _timer = Number.isFinite(untilMs) ? clock.after(Math.max(0, untilMs - clock.elapsedMs()), noticed) : undefined
      if (!hasMore) await new Promise<void>((resolve) => (wake = resolve))
      hasMore = false
    },
    [Symbol.dispose](): void {
      added[Symbol.dispose]()
      seal?.removeEventListener('abort', noticed)
    },
  }
}

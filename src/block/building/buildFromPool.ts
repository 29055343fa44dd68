import { setImmediate as nextTurn } from 'node:timers/promises'
import { denimBlockMs } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import type { Clock } from '#lib/clock'
import type { PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import type { BlockDeps, ParentBlock } from '../execution/executeBlock.ts'
import type { InvalidBlock } from '../execution/executedBlock.ts'
import { type BlockBuild, beginBuild } from './buildBlock.ts'
import { type FlashblockListener, publishFlashblocks } from './buildFlashblocks.ts'
import type { BuildPool } from './buildPool.ts'

/** Maximum time in milliseconds that a build runs before it yields to other work of the thread. */
const sliceMs = 10
/** Share of the block time that a build without a seal may take, so that blocks that are late catch up. */
const lateShare = 1 / 4

/** How a block is executed, and the pool that its later transactions come from. */
export type BuildSources = { readonly block: BlockDeps; readonly pool: BuildPool }

export type PoolBuildDeps = BuildSources & {
  readonly clock: Clock
  /** Returns the present limits. */
  readonly limits: () => BlockLimits
  /** Receives flashblocks, before Denim: forced transactions, first pool transactions, then one per interval, and the rest before the seal. */
  readonly flashblocks: FlashblockListener | undefined
  /** Runs a function with the parent's state open. The function must not keep anything of the state. */
  readonly during: <T>(run: (on: ParentBlock) => T) => T
}

/** When a build ends (`seal`), and what to call when the transactions of the attributes are executed. */
export type BuildTiming = { readonly seal: AbortSignal | undefined; readonly onForcedExecuted: (() => void) | undefined }

/**
 * Builds a block of the attributes' own transactions and then of the pool's, best first, in steps of `sliceMs`. The build ends when nothing fits
 * or the seal is aborted; without a seal, when the pool is empty or a quarter of the block time is over. The first step runs at once.
 * @returns a build that is ready to be sealed; 'invalid' when a transaction of the attributes cannot be in the block
 * @throws faults of `beginBuild`, and of `during` when the parent is no longer known
 */
export async function buildFromPool(
  deps: PoolBuildDeps,
  attributes: PayloadAttributes,
  { seal, onForcedExecuted }: BuildTiming,
): Promise<{ readonly kind: 'begun'; readonly build: BlockBuild } | InvalidBlock> {
  const { pool, clock, flashblocks, limits, during } = deps
  const { config } = deps.block
  const isDenim = isActive(config.schedule, 'denim', attributes.timestamp)
  const blockMs = isDenim ? denimBlockMs : during((on) => attributes.timestamp - on.header.timestamp) * 1_000
  const endMs = seal ? Number.POSITIVE_INFINITY : clock.elapsedMs() + lateShare * blockMs
  const begun = during((on) => beginBuild(deps.block, on, attributes))
  if (begun.kind === 'invalid') return begun
  using abandoned = new DisposableStack()
  const build = abandoned.use(begun.build)
  onForcedExecuted?.()
  const watch = flashblocks && !isDenim ? publishFlashblocks(config, clock, flashblocks) : undefined
  const look = (isLast: boolean): void => during((on) => build.look(on, (block) => watch?.look(on, block, isLast)))
  using wait = waitForMore(pool, clock, seal)
  const cursor = pool.best(build.baseFee)
  let lookAtMs = watch ? clock.elapsedMs() : Number.POSITIVE_INFINITY
  if (watch) look(false)
  while (!seal?.aborted) {
    const untilMs = clock.elapsedMs() + sliceMs
    const taken = during((on) => build.takeFrom(on, cursor, limits(), () => clock.elapsedMs() >= untilMs))
    if (taken === 'full' || (taken === 'dry' && seal === undefined) || clock.elapsedMs() >= endMs) break
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

/** Returns the next of evenly spaced moments after now. Missed moments are skipped. */
const nextLookMs = (lastMs: number, nowMs: number, everyMs: number): number =>
  lastMs + everyMs * (Math.floor((nowMs - lastMs) / everyMs) + 1)

/** Waits for additions to the pool from now on, and for the seal. */
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
    /** Resolves when a transaction was added since the last call, the seal is aborted, or `elapsedMs` reaches `untilMs`. */
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

import type { L2Ref } from '#types/blockRef'
import type { Epoch } from '../rules/epoch.ts'
import type { L1Traversal } from './l1Traversal.ts'

/** Possible L1 origins of the next L2 blocks: consecutive, from the safe head's origin to the L1 block being read. */
export type Epochs = {
  readonly blocks: readonly Epoch[]
  /** True when the L1 block being read is before the safe head's origin, so that its batches are safe already. */
  isBehind(safe: L2Ref): boolean
  /** Adds the L1 block being read, and drops blocks before the safe head's origin. */
  update(safe: L2Ref): void
  /** Drops the first epoch, once it has all its blocks. */
  dropFirst(): void
}

/**
 * Creates the window of epochs. It outlives the stages that use it: they are replaced at Holocene's activation, and epochs from before remain valid.
 */
export function createEpochs(traversal: L1Traversal): Epochs {
  let blocks: Epoch[] = []
  let latest: Epoch | undefined
  const isBehind = (safe: L2Ref): boolean => traversal.origin.number < safe.l1Origin.number
  return {
    get blocks(): readonly Epoch[] {
      return blocks
    },
    isBehind,
    update(safe: L2Ref): void {
      const { epoch } = traversal
      if (epoch !== undefined && epoch !== latest) {
        latest = epoch
        blocks = isBehind(safe) ? [] : [...blocks, epoch]
      }
      const origin = blocks.findIndex(({ number }) => number === safe.l1Origin.number)
      if (origin > 0) blocks = blocks.slice(origin)
    },
    dropFirst(): void {
      blocks = blocks.slice(1)
    },
  }
}

/**
 * Returns the reason why derivation cannot build on the safe head, or undefined. The first epoch may be one ahead of the safe head's, after forced
 * empty blocks filled that one.
 */
export function refuseSafeHead({ blocks }: Epochs, safe: L2Ref): string | undefined {
  const [epoch] = blocks
  if (epoch === undefined) return `L1 origin ${safe.l1Origin.number} of the safe head was not read`
  const fits = epoch.hash === safe.l1Origin.hash || epoch.number === safe.l1Origin.number + 1
  return fits ? undefined : `L1 block ${epoch.number} (${epoch.hash}) is not the origin of safe head ${safe.number}`
}

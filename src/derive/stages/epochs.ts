import type { L2Ref } from '#types/blockRef'
import type { Epoch } from '../rules/epoch.ts'
import type { L1Traversal } from './l1Traversal.ts'

/** The L1 blocks in which the next L2 blocks may stand: consecutive, from the safe head's origin to the block being read. */
export type Epochs = {
  readonly blocks: readonly Epoch[]
  /** The L1 block being read lies before the safe head's origin: what it holds is known. */
  isBehind(safe: L2Ref): boolean
  /** Takes in the L1 block being read, and lets go of those before the safe head's origin. */
  update(safe: L2Ref): void
  /** Leaves the first epoch, which has all the blocks it can have. */
  dropFirst(): void
}

/** Outlives the stages that use it: at Holocene's activation they are exchanged, while the epochs before it still count. */
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

/** Why the safe head cannot be built on, or undefined. The first epoch may be one ahead, after it was filled with empty blocks. */
export function refuseSafeHead({ blocks }: Epochs, safe: L2Ref): string | undefined {
  const [epoch] = blocks
  if (epoch === undefined) return `L1 origin ${safe.l1Origin.number} of the safe head was not read`
  const fits = epoch.hash === safe.l1Origin.hash || epoch.number === safe.l1Origin.number + 1
  return fits ? undefined : `L1 block ${epoch.number} (${epoch.hash}) is not the origin of safe head ${safe.number}`
}

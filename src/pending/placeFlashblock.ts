import type { BlockInput } from '#block/execution/executedBlock'
import type { PendingBlock } from '#block/execution/pendingBlock'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import { equalBytes } from '#lib/bytes'
import type { BlockId } from '#types/blockRef'
import type { Flashblock, FlashblockBase } from '#types/flashblock'
import { maxPendingBlocks, type PendingOutcome, type PendingRefusal } from './pendingPort.ts'

export type RefusedFlashblock = Extract<PendingOutcome, { kind: 'refused' }>

export const refused = (reason: PendingRefusal, text: string): RefusedFlashblock => ({ kind: 'refused', reason, text })

/** Effect of a flashblock on the pending blocks: it begins a block that replaces those from `at` on, or extends the last block. */
export type PendingPlan = { readonly kind: 'begin'; readonly at: number; readonly base: FlashblockBase } | { readonly kind: 'grow' }

/**
 * Decides where a flashblock belongs. Pure. The caller still checks that the pending parent has the hash that the flashblock names.
 * @param shown oldest first, the first one a child of the head
 */
export function planFlashblock(head: BlockId, shown: readonly PendingBlock[], flashblock: Flashblock): PendingPlan | RefusedFlashblock {
  const { base, blockNumber, index, payloadId } = flashblock
  if (base !== undefined) {
    const at = blockNumber - head.number - 1
    const isOnHead = at === 0 && base.parentHash === head.hash
    const isOnShown = at > 0 && at <= shown.length
    if (!isOnHead && !isOnShown)
      return refused('parent', `block ${blockNumber} on ${base.parentHash}, the head is ${head.number} ${head.hash}`)
    if (shown[at]?.payloadId === payloadId) return refused('order', `build ${payloadId} again from its start`)
    return at < maxPendingBlocks ? { kind: 'begin', at, base } : refused('depth', `block ${blockNumber}, the head is ${head.number}`)
  }
  const last = shown.at(-1)
  const isNext = last?.payloadId === payloadId && last.header.number === blockNumber && last.index + 1 === index
  return isNext ? { kind: 'grow' } : refused('order', `flashblock ${index} of block ${blockNumber}, build ${payloadId}`)
}

/** Returns the block input that flashblock 0 sets. */
export function inputOfBase(schedule: ForkSchedule, base: FlashblockBase, transactions: readonly Uint8Array[]): BlockInput {
  const { timestamp, feeRecipient, prevRandao, gasLimit, extraData, parentBeaconBlockRoot } = base
  return {
    timestamp,
    beneficiary: feeRecipient,
    prevRandao,
    gasLimit,
    extraData,
    ...(isActive(schedule, 'ecotone', timestamp) && { parentBeaconBlockRoot }),
    transactions,
  }
}

const sameFields = [
  'parentHash',
  'number',
  'timestamp',
  'beneficiary',
  'mixHash',
  'gasLimit',
  'baseFeePerGas',
  'parentBeaconBlockRoot',
] as const

/** Returns whether transactions execute the same in both blocks. */
export function isSameEnvironment(a: PendingBlock['header'], b: PendingBlock['header']): boolean {
  return sameFields.every((field) => a[field] === b[field]) && equalBytes(a.extraData, b.extraData)
}

/** Returns the index of the first pending transaction that the other block lacks at its place; undefined when it has all. */
export function firstDifference(shown: PendingBlock['executed'], other: PendingBlock['executed']): number | undefined {
  const at = shown.findIndex(({ hash }, index) => other[index]?.hash !== hash)
  return at < 0 ? undefined : at
}

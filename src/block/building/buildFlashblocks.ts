import { createHash } from 'node:crypto'
import { messagePasser } from '#chainspec/addresses'
import { isActive } from '#chainspec/forks'
import type { EvmSession } from '#evm/ports'
import type { Clock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { computeStorageRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import type { BuiltFlashblock, FlashblockBase, FlashblockOutcome } from '#types/flashblock'
import { hashHeader } from '#types/header'
import { type Address, emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { BlockExecutor, ParentBlock } from '../execution/executeBlock.ts'
import type { BlockInput } from '../execution/executedBlock.ts'
import { lazyHeader, pendingHeader } from '../execution/pendingHeader.ts'
import { receiptsRoot, unionOfBlooms } from '../execution/receipts.ts'
import type { ExecutionConfig } from '../executionConfig.ts'

const messagePasserKey = keccak256(fromHex(messagePasser))

/** Returns the id of a build: 8 bytes as `0x` hex, different for each build. */
function payloadIdOf(parent: Hash, { timestamp, transactions }: BlockInput, atMs: number): string {
  const digest = createHash('sha256').update(`${parent} ${timestamp} ${atMs}`)
  for (const raw of transactions) digest.update(raw)
  return `0x03${digest.digest('hex').slice(0, 14)}`
}

/** Receiver of the flashblocks of blocks that this node builds. */
export type FlashblockListener = {
  /** Interval between flashblocks, in milliseconds; an interval without transactions has an empty one. The first two are emitted at once. */
  readonly everyMs: number
  onFlashblock(flashblock: BuiltFlashblock): void
}

/** Observer that sees a block during its construction, once per interval and before the seal. */
export type BuildWatch = {
  readonly everyMs: number
  /** @param on parent of the block, its state open @param isLast whether the block is sealed next */
  look(on: ParentBlock, block: BlockExecutor, isLast: boolean): void
}

/** Emits the flashblocks of one build. Each transaction of the block is in one of them, in order, and all are emitted before the block is sealed. */
export function publishFlashblocks(config: ExecutionConfig, clock: Clock, { everyMs, onFlashblock }: FlashblockListener): BuildWatch {
  const startMs = clock.nowMs()
  let index = 0
  let published = 0
  let payloadId = ''
  return {
    everyMs,
    look(on, block, isLast): void {
      const { transactions, run, session, env, input } = block
      if (isLast && transactions.length === published) return
      if (index === 0) payloadId = payloadIdOf(on.hash, input, startMs)
      const changed = session.changed()
      const outcome = outcomeOf(config, on.state, block, changed)
      const header = lazyHeader(pendingHeader(block, outcome), () => transactions)
      const flashblock: BuiltFlashblock = {
        ...{ payloadId, blockNumber: env.number, index },
        ...(index === 0 && { base: baseOf(on, block) }),
        ...{ transactions: transactions.slice(published), outcome, blockHash: hashHeader(header) },
        receipts: run.executed.slice(published).map(({ hash, receipt }) => ({ hash, receipt })),
        balances: changed.map((address) => ({ address, balanceWei: session.account(address)?.balance ?? 0n })),
      }
      index++
      published = transactions.length
      onFlashblock(flashblock)
    },
  }
}

const baseOf = ({ hash }: ParentBlock, { input, env }: BlockExecutor): FlashblockBase => ({
  parentHash: hash,
  parentBeaconBlockRoot: input.parentBeaconBlockRoot ?? zeroHash,
  feeRecipient: input.beneficiary,
  prevRandao: input.prevRandao,
  gasLimit: input.gasLimit,
  timestamp: input.timestamp,
  extraData: input.extraData,
  baseFee: env.baseFee,
})

function outcomeOf(
  { schedule }: ExecutionConfig,
  below: WorldState,
  { run, session, env }: BlockExecutor,
  changed: readonly Address[],
): FlashblockOutcome {
  const receipts = run.executed.map(({ receipt }) => receipt)
  return {
    stateRoot: zeroHash,
    receiptsRoot: receiptsRoot(schedule, env.timestamp, receipts),
    logsBloom: unionOfBlooms(receipts),
    gasUsed: run.gasUsed,
    withdrawalsRoot: isActive(schedule, 'isthmus', env.timestamp) ? messagePasserRoot(below, session, changed) : emptyRoot,
    ...(isActive(schedule, 'jovian', env.timestamp) && { blobGasUsed: run.footprint }),
  }
}

/** Storage root of the message passer. It changes only when the block contains withdrawals. */
function messagePasserRoot(below: WorldState, session: EvmSession, changed: readonly Address[]): Hash {
  if (!changed.includes(messagePasser)) return session.account(messagePasser)?.storageRoot ?? emptyRoot
  return computeStorageRoot(below.nodes, below.view, session.diff(), messagePasserKey)
}

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
import { type PendingBlock, pendingBlockOf } from '../execution/pendingBlock.ts'
import { receiptsRoot, unionOfBlooms } from '../execution/receipts.ts'
import type { ExecutionConfig } from '../executionConfig.ts'

const messagePasserKey = keccak256(fromHex(messagePasser))

/** 8 bytes as `0x` hex, of their own for each build. */
function payloadIdOf(parent: Hash, { timestamp, transactions }: BlockInput, atMs: number): string {
  const digest = createHash('sha256').update(`${parent} ${timestamp} ${atMs}`)
  for (const raw of transactions) digest.update(raw)
  return `0x03${digest.digest('hex').slice(0, 14)}`
}

/** Who wants to know of a block while it is built. */
export type FlashblockListener = {
  /** A flashblock comes so often, empty or not, the first two at once. */
  readonly everyMs: number
  /** @param pending the block as the flashblock leaves it */
  onFlashblock(flashblock: BuiltFlashblock, pending: PendingBlock): void
}

export type BuildWatch = {
  readonly everyMs: number
  /** @param on the parent, its state open @param isLast the block is sealed next */
  look(on: ParentBlock, block: BlockExecutor, isLast: boolean): void
}

/** Tells one build, slice after slice: each of its transactions once, in order, all of them before it is sealed. */
export function publishFlashblocks(config: ExecutionConfig, clock: Clock, { everyMs, onFlashblock }: FlashblockListener): BuildWatch {
  const startMs = clock.nowMs()
  let index = 0
  let told = 0
  let payloadId = ''
  return {
    everyMs,
    look(on, block, isLast): void {
      const { transactions, run, session, env, input } = block
      if (isLast && transactions.length === told) return
      if (index === 0) payloadId = payloadIdOf(on.hash, input, startMs)
      const changed = session.changed()
      const outcome = outcomeOf(config, on.state, block, changed)
      const pending = pendingBlockOf(block, { payloadId, index }, outcome)
      const flashblock: BuiltFlashblock = {
        ...{ payloadId, blockNumber: env.number, index },
        ...(index === 0 && { base: baseOf(on, block) }),
        ...{ transactions: transactions.slice(told), outcome, blockHash: hashHeader(pending.header) },
        receipts: run.executed.slice(told).map(({ hash, receipt }) => ({ hash, receipt })),
        balances: changed.map((address) => ({ address, balanceWei: session.account(address)?.balance ?? 0n })),
      }
      index++
      told = transactions.length
      onFlashblock(flashblock, pending)
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

/** Its slots change with withdrawals alone. */
function messagePasserRoot(below: WorldState, session: EvmSession, changed: readonly Address[]): Hash {
  if (!changed.includes(messagePasser)) return session.account(messagePasser)?.storageRoot ?? emptyRoot
  return computeStorageRoot(below.nodes, below.view, session.diff(), messagePasserKey)
}

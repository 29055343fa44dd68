import { constantFields } from '#engine/payloadHeader'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { orderedRoot } from '#trie/orderedRoot'
import type { FlashblockOutcome } from '#types/flashblock'
import type { Header } from '#types/header'
import { emptyRequestsHash, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { BlockExecutor } from './executeBlock.ts'
import type { ExecutedTransaction } from './executedBlock.ts'
import { unionOfBlooms } from './receipts.ts'

/** Build that a pending block belongs to, and the last flashblock in it. */
export type PendingLocation = {
  /** 8 bytes as `0x` hex */
  readonly payloadId: string
  /** index of the flashblock, from 0 */
  readonly index: number
}

/** Header of a pending block, without the transactions root, which is computed when it is read. */
export type PendingHeader = Omit<Header, 'transactionsRoot'>

/**
 * A pending block after one of its flashblocks: frozen, and replaced by a new one after the next flashblock. Its state root is the flashblock's
 * (builders leave it zero). Gas used, bloom and DA footprint come from this node's execution.
 */
export type PendingBlock = PendingLocation & {
  /** placeholder for the block hash; known to views only */
  readonly id: Hash
  readonly header: Header
  /** the header without the computed transactions root */
  readonly fields: PendingHeader
  readonly transactions: readonly Uint8Array[]
  /** in the order of `transactions` */
  readonly executed: readonly ExecutedTransaction[]
  /** changes to the state of the parent */
  readonly diff: StateDiff
}

/** Pending blocks: the first is a child of the unsafe head, each other block is a child of the previous one. */
export type PendingBlocks = {
  /** oldest first, at least one */
  readonly blocks: readonly PendingBlock[]
  /** end of validity, as wall clock in milliseconds; afterwards the blocks are not served */
  readonly freshUntilMs: number
}

/** Returns an id that differs from every block hash and from the ids of other flashblocks. */
export function pendingId(parentHash: Hash, number: number, { payloadId, index }: PendingLocation): Hash {
  const place = [bytesFromBigint(BigInt(number), 8), fromHex(payloadId), bytesFromBigint(BigInt(index), 4)]
  return hashFromBytes(keccak256(concatBytes(fromHex(parentHash), ...place)))
}

/** Returns a header that computes its transactions root when it is first read. */
export function lazyHeader(fields: PendingHeader, transactions: () => readonly Uint8Array[]): Header {
  let root: Hash | undefined
  return {
    ...fields,
    get transactionsRoot(): Hash {
      root ??= orderedRoot(transactions())
      return root
    },
  }
}

/** Returns the pending block that a block under construction forms after a flashblock. */
export function pendingBlockOf(block: BlockExecutor, place: PendingLocation, outcome: FlashblockOutcome): PendingBlock {
  const { env, input, parentHash } = block
  const { executed, gasUsed, footprint } = block.run
  const { timestamp, parentBeaconBlockRoot } = input
  const isEcotone = parentBeaconBlockRoot !== undefined
  const transactions = block.transactions.slice()
  const fields: PendingHeader = {
    ...constantFields,
    parentHash,
    stateRoot: outcome.stateRoot,
    receiptsRoot: outcome.receiptsRoot,
    logsBloom: unionOfBlooms(executed.map(({ receipt }) => receipt)),
    gasUsed,
    beneficiary: env.beneficiary,
    number: env.number,
    gasLimit: env.gasLimit,
    timestamp,
    extraData: input.extraData,
    mixHash: env.prevRandao,
    baseFeePerGas: env.baseFee,
    ...(block.has('canyon') && { withdrawalsRoot: outcome.withdrawalsRoot }),
    ...(isEcotone && { blobGasUsed: footprint, excessBlobGas: 0n, parentBeaconBlockRoot }),
    ...(block.has('isthmus') && { requestsHash: emptyRequestsHash }),
  }
  return Object.freeze({
    ...place,
    id: pendingId(parentHash, env.number, place),
    header: Object.freeze(lazyHeader(fields, () => transactions)),
    fields,
    transactions,
    executed: executed.slice(),
    diff: block.session.diff(),
  })
}

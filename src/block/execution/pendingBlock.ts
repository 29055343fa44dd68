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

/** Which build a block comes from, and the last of its flashblocks that is in it. */
export type PendingLocation = {
  /** 8 bytes as hex */
  readonly payloadId: string
  /** from 0 */
  readonly index: number
}

/** The header of a block that is not sealed, without what is computed when somebody asks for it. */
export type PendingHeader = Omit<Header, 'transactionsRoot'>

/**
 * A block that is not sealed, as a flashblock left it: frozen, and another one after the next flashblock. Its state root is what the flashblock says,
 * which builders leave zero; gas, bloom and DA footprint are those of our execution.
 */
export type PendingBlock = PendingLocation & {
  /** stands for the hash that it does not have yet; known to views alone */
  readonly id: Hash
  readonly header: Header
  /** the same without what is computed */
  readonly fields: PendingHeader
  readonly transactions: readonly Uint8Array[]
  /** in the order of `transactions` */
  readonly executed: readonly ExecutedTransaction[]
  /** on the state of its parent */
  readonly diff: StateDiff
}

/** What is pending: each block on the one before, the first one on the unsafe head. */
export type PendingBlocks = {
  /** oldest first, at least one */
  readonly blocks: readonly PendingBlock[]
  /** wall clock, milliseconds: later it is not shown */
  readonly freshUntilMs: number
}

/** An id that no block hash is, new for each flashblock. */
export function pendingId(parentHash: Hash, number: number, { payloadId, index }: PendingLocation): Hash {
  const place = [bytesFromBigint(BigInt(number), 8), fromHex(payloadId), bytesFromBigint(BigInt(index), 4)]
  return hashFromBytes(keccak256(concatBytes(fromHex(parentHash), ...place)))
}

/** The root of the transactions is computed when it is read. */
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

/** A block as its flashblocks so far have left it. */
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

import { constantFields } from '#engine/payloadHeader'
import { orderedRoot } from '#trie/orderedRoot'
import type { FlashblockOutcome } from '#types/flashblock'
import type { Header } from '#types/header'
import { emptyRequestsHash, type Hash } from '#types/ids'
import type { BlockExecutor } from './executeBlock.ts'
import { unionOfBlooms } from './receipts.ts'

/** Header of a pending block, without the transactions root, which is computed when it is read. */
export type PendingHeader = Omit<Header, 'transactionsRoot'>

/** Returns the header that a block under construction has after a flashblock. */
export function pendingHeader(block: BlockExecutor, outcome: FlashblockOutcome): PendingHeader {
  const { env, input, parentHash } = block
  const { executed, gasUsed, footprint } = block.run
  const { timestamp, parentBeaconBlockRoot } = input
  const isEcotone = parentBeaconBlockRoot !== undefined
  return {
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

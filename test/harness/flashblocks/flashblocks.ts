import { createHash } from 'node:crypto'
import type { Execution } from '#blockchain/execution'
import type { Flashblock } from '#types/flashblock'
import { type Hash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'

/** The build of a payload: 8 bytes as hex. */
export const payloadIdOf = ({ blockHash }: Payload, build = 0): string =>
  `0x${createHash('sha256').update(`${blockHash} ${build}`).digest('hex').slice(0, 16)}`

/** Cuts a list into pieces that end before these indexes. */
const pieces = <T>(list: readonly T[], cuts: readonly number[]): T[][] =>
  [...cuts, list.length].map((end, i) => list.slice(i === 0 ? 0 : cuts[i - 1], end))

/**
 * A payload as the flashblocks that a builder would have told of it.
 * @param maker knows the block: the gas is that of its receipts
 * @param cuts indexes of transactions that begin another flashblock; twice the same: one is empty
 */
export function flashblocksOf(maker: Execution, payload: Payload, cuts: readonly number[], build = 0): Flashblock[] {
  using view = maker.view()
  const gas = (view.receipts(payload.blockHash) ?? []).map(({ receipt }) => receipt.cumulativeGasUsed)
  const { parentHash, parentBeaconBlockRoot = zeroHash, feeRecipient, prevRandao, gasLimit, timestamp, extraData } = payload
  const base = {
    parentHash,
    parentBeaconBlockRoot,
    feeRecipient,
    prevRandao,
    gasLimit,
    timestamp,
    extraData,
    baseFee: payload.baseFeePerGas,
  }
  let taken = 0
  return pieces(payload.transactions, cuts).map((transactions, index): Flashblock => {
    taken += transactions.length
    return {
      payloadId: payloadIdOf(payload, build),
      blockNumber: payload.blockNumber,
      index,
      ...(index === 0 && { base }),
      transactions,
      outcome: {
        stateRoot: zeroHash,
        receiptsRoot: payload.receiptsRoot,
        logsBloom: payload.logsBloom,
        gasUsed: gas[taken - 1] ?? 0n,
        withdrawalsRoot: payload.withdrawalsRoot ?? (zeroHash as Hash),
      },
    }
  })
}

import { createHash } from 'node:crypto'
import type { Execution } from '#blockchain/execution'
import type { Flashblock } from '#types/flashblock'
import { type Hash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'

/** Id of a payload's build: 8 bytes in hex. */
export const payloadIdOf = ({ blockHash }: Payload, build = 0): string =>
  `0x${createHash('sha256').update(`${blockHash} ${build}`).digest('hex').slice(0, 16)}`

/** Cuts a list into pieces that end before these indexes. */
const pieces = <T>(list: readonly T[], cuts: readonly number[]): T[][] =>
  [...cuts, list.length].map((end, i) => list.slice(i === 0 ? 0 : cuts[i - 1], end))

/**
 * Returns the flashblocks with which a builder would have published a payload.
 * @param maker execution that has the block; its receipts give the gas of each flashblock
 * @param cuts indexes of the transactions that begin a flashblock; a repeated index gives an empty flashblock
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

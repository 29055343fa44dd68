import { fromHex } from '#lib/hex'
import { factoryAddress } from '#nativeContracts/addresses'
import { type Address, addressFromBytes } from '#types/ids'
import type { Payload } from '#types/payload'
import type { OpenChain } from '../../bench/rpc/chains.ts'

/** Returns the B20 tokens that were created in a block, by the logs of the factory. */
export function createdTokens({ execution }: OpenChain, { blockHash }: Payload): readonly Address[] {
  using view = execution.view()
  const logs = (view.receipts(blockHash) ?? []).flatMap(({ receipt }) => receipt.logs)
  return logs.flatMap(({ address, topics }) =>
    address === factoryAddress && topics[1] ? [addressFromBytes(fromHex(topics[1]).subarray(12))] : [],
  )
}

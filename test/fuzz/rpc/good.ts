import type { Hex } from 'viem'
import type { ForkSchedule } from '#chainspec/forks'
import { encodeAttributes } from '#engine/payloadJson'
import { zeroHash } from '#types/ids'
import { attributesAt } from '../../harness/chain/blocks.ts'
import { ask } from '../../harness/engine/server.ts'
import type { GoodParams } from './messages.ts'

/** Valid parameters for the engine port: a block on its genesis that is built and known but never the head. */
export async function engineParams(url: string, schedule: ForkSchedule, genesis: Hex): Promise<GoodParams> {
  const attributes = encodeAttributes(attributesAt(schedule, 1))
  const state = { headBlockHash: genesis, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash }
  const { payloadId } = (await ask(url, 'engine_forkchoiceUpdatedV3', state, attributes)) as { payloadId: string }
  const { executionPayload } = (await ask(url, 'engine_getPayloadV4', payloadId)) as { executionPayload: { blockHash: string } }
  return {
    engine_forkchoiceUpdatedV3: [
      [state, attributes],
      [state, null],
    ],
    engine_getPayloadV4: [[payloadId]],
    engine_newPayloadV4: [[executionPayload, [], attributes['parentBeaconBlockRoot'], []]],
    engine_getPayloadBodiesByHashV1: [[[executionPayload.blockHash, genesis]]],
  }
}

type Block = {
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly mixHash: Hex
  readonly miner: Hex
  readonly gasLimit: Hex
  readonly extraData: Hex
  readonly parentBeaconBlockRoot: Hex
  readonly transactions: readonly Hex[]
}

/** Valid parameters made from a block of the devnet. @param call calls a method of the devnet */
export async function blockParams(call: <T>(method: string, ...params: unknown[]) => Promise<T>, hash: Hex): Promise<GoodParams> {
  const block = await call<Block>('eth_getBlockByHash', hash, false)
  const transactions = await Promise.all(block.transactions.map((of) => call<Hex>('eth_getRawTransactionByHash', of)))
  const attributes = {
    ...{ timestamp: block.timestamp, prevRandao: block.mixHash, suggestedFeeRecipient: block.miner, withdrawals: [], noTxPool: true },
    ...{ parentBeaconBlockRoot: block.parentBeaconBlockRoot, transactions, gasLimit: block.gasLimit },
    ...{ eip1559Params: `0x${block.extraData.slice(4, 20)}`, minBaseFee: Number(`0x${block.extraData.slice(20, 36)}`) }, // Jovian's form
  }
  return {
    debug_traceBlock: [[await call<Hex>('debug_getRawBlock', hash)]],
    debug_executePayload: [[block.parentHash, attributes]],
  }
}

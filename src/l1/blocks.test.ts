import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { createL1Chain } from '#test/harness/l1/chain'
import { recordedBlockOf } from '#test/harness/l1/json'
import { hashTransaction } from '#types/transaction'
import { createL1Blocks } from './blocks.ts'
import { endpointsOf } from './endpoint.ts'
import { Failover } from './failover.ts'
import { l1Fault } from './faults.ts'
import { l1Metrics } from './metrics.ts'
import type { RpcCall } from './rpc.ts'
import { meansUnknownBlock } from './rpc.ts'

const { signal } = new AbortController()
const endpoint = 'l1.example'

/** Result of one endpoint for each call. */
function blocksOf(answer: (call: RpcCall) => unknown) {
  const deps = { clock: systemClock, random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()), hasBudget: () => true }
  const failover = new Failover(deps, 'rpc', endpointsOf([`http://${endpoint}`]))
  const rpc = {
    call: async (_endpoint: unknown, calls: readonly RpcCall[]) => calls.map(answer),
  }
  return createL1Blocks({ rpc, failover, agreement: { check: async () => {} } })
}

const refusal = (code: number, message: string) =>
  l1Fault('L1_RPC_ERROR', { endpoint, asked: 'block', code, isUnknownBlock: meansUnknownBlock(code, message) })

describe('l1/blocks', () => {
  it.each([
    [-39_001, 'Unknown block'],
    [-32_000, 'finalized block not found'],
    [-32_000, 'header not found'],
    [-32_001, 'resource not found: block 0x12'],
  ])('error %i "%s" means that the block does not exist', async (code, message) => {
    const blocks = blocksOf(() => {
      throw refusal(code, message)
    })
    expect(await blocks.heads(['safe', 'finalized'], signal)).toEqual([undefined, undefined])
    expect(await blocks.block(5, signal)).toBeUndefined()
  })

  it.each([
    [-32_601, 'the method eth_getBlockReceipts does not exist/is not available'],
    [-32_601, 'block method not found'],
    [-32_000, 'archive required'],
  ])('error %i "%s" is a failure, not an unknown block (L1_RPC_ERROR)', async (code, message) => {
    const blocks = blocksOf(() => {
      throw refusal(code, message)
    })
    await expect(blocks.block(5, signal)).rejects.toMatchObject({ code: 'L1_RPC_ERROR' })
  })

  it('requests the raw bytes of a transaction of an unknown type and verifies them by the root', async () => {
    const chain = createL1Chain({ chainId: 900, genesisTimeSec: 1_700_000_000, blockTimeSec: 12 })
    const raw = concatBytes(Uint8Array.of(6), new Uint8Array(40).fill(7))
    const block = chain.mine({ transactions: [raw] })
    const { receipts } = recordedBlockOf({ ...block, transactions: [] })
    const whole = recordedBlockOf({ ...block, transactions: [] }).block
    const json = { ...whole, transactions: [{ type: '0x6', hash: hashTransaction(raw) }] }
    const answers = (bytes: Uint8Array) =>
      blocksOf(({ method }) =>
        new Map<string, unknown>(
          Object.entries({ eth_getBlockByNumber: json, eth_getBlockReceipts: receipts, eth_getRawTransactionByHash: toHex(bytes) }),
        ).get(method),
      )
    expect(await answers(raw).block(1, signal)).toEqual(block)
    await expect(answers(raw.toReversed()).block(1, signal)).rejects.toMatchObject({
      code: 'L1_BLOCK_MISMATCH',
      data: { what: 'transactions root' },
    })
    await expect(answers(new Uint8Array()).block(1, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })
  })
})

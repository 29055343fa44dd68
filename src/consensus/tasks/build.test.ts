import { expect, it } from 'vitest'
import type { DerivedAttributes } from '#derive/ports'
import { emptyChain, extendChain } from '#test/harness/chain/generatedChain'
import { addressOf, keyOf, sign } from '#test/harness/derive/l1'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { PayloadAttributes } from '#types/payload'
import { buildDerived } from './build.ts'

const transfer = (chainId: number, nonce: bigint): Uint8Array => {
  const fields = {
    type: 2,
    chainId: BigInt(chainId),
    nonce,
    gasLimit: 21_000n,
    to: addressOf('receiver'),
    value: 1n,
    data: new Uint8Array(0),
  }
  return sign(
    { ...fields, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] } as Parameters<typeof sign>[0],
    keyOf('user'),
  )
}

// op-node 1.19.6 builds a deposits-only block in both cases. @see ../shared/reference/consensus.md, section 14
it.each<[string, (chainId: number) => Uint8Array]>([
  ['a nonce that is too high', (chainId) => transfer(chainId, 666n)],
  ['bytes that are not a transaction', () => Uint8Array.of(0xba, 0xd0)],
])('consensus/build: from Holocene on, builds a block of its deposits when a batch has %s', async (_what, bad) => {
  await using kv = createMemoryKv()
  const chain = emptyChain(kv)
  await extendChain(chain, 1)
  const { config, execution } = chain
  const parent = (await execution.payload(1)) ?? expect.fail()
  const deposits = parent.transactions.slice(0, 1)
  const attributes: PayloadAttributes = {
    timestamp: parent.timestamp + 2,
    prevRandao: parent.prevRandao,
    suggestedFeeRecipient: parent.feeRecipient,
    withdrawals: [],
    ...(parent.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: parent.parentBeaconBlockRoot }),
    transactions: [...deposits, transfer(config.l2ChainId, 0n), bad(config.l2ChainId)],
    noTxPool: true,
    gasLimit: parent.gasLimit,
    eip1559Params: new Uint8Array(8),
    minBaseFee: 0n,
  }
  const on = { number: 1, hash: parent.blockHash }
  const item = {
    parent: on,
    attributes,
    derivedFrom: { ...config.genesis.l1, parentHash: config.genesis.l1.hash, timestamp: parent.timestamp },
    isLastInSpan: true,
  } as DerivedAttributes
  const derived = await buildDerived(execution, config.schedule, item)
  const alone = await execution.build(on, { ...attributes, transactions: deposits })
  expect(derived).toMatchObject({ kind: 'replaced', payload: { transactions: deposits } })
  expect('payload' in derived && derived.payload).toEqual('payload' in alone && alone.payload)
})

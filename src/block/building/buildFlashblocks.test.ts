import { expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { silentLog } from '#lib/log'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createListedPool } from '#test/harness/chain/buildPool'
import { createManualClock, settle } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BuiltFlashblock } from '#types/flashblock'
import { zeroHash } from '#types/ids'

const schedule = scheduleTo('jovian')
const { genesis, config } = smallChain(schedule)

const everyMs = 200

/** A chain that records the flashblocks of its builds. */
function start() {
  const pool = createListedPool()
  const clock = createManualClock()
  const emitted: BuiltFlashblock[] = []
  const onFlashblock = (flashblock: BuiltFlashblock) => void emitted.push(flashblock)
  const execution = createExecution({
    ...{ kv: createMemoryKv(), evm: sharedEvm, config, genesis: () => genesis, clock, log: silentLog, pool },
    flashblocks: { everyMs, onFlashblock },
  })
  const seal = new AbortController()
  const build = (forced: readonly Uint8Array[] = []) =>
    execution.build(execution.published.heads.unsafe, { ...attributesAt(schedule, 1, forced), noTxPool: false }, seal.signal)
  return { pool, clock, emitted, execution, build, seal }
}

const tip = (name: string, nonce = 0n) => signedBy(name, { nonce, maxPriorityFeePerGas: 1n })

it('block/building/buildFlashblocks: emits forced transactions, then the first of the pool, then one flashblock per interval, empty or not', async () => {
  const { pool, clock, emitted, build, seal } = start()
  const [early, later] = [tip('alice'), tip('bob')]
  pool.add(early)
  const building = build()
  await settle()
  expect(emitted.map(({ index, transactions }) => [index, transactions.length])).toEqual([
    [0, 1],
    [1, 1],
  ])
  pool.add(later)
  await settle()
  expect(emitted).toHaveLength(2)
  await clock.advanceMs(everyMs)
  await clock.advanceMs(everyMs)
  expect(emitted.slice(2).map(({ index, transactions }) => [index, transactions])).toEqual([
    [2, [later]],
    [3, []],
  ])
  seal.abort()
  await building
  expect(emitted).toHaveLength(4)
})

it('block/building/buildFlashblocks: emits the rest before the seal, and the flashblocks together are the block', async () => {
  const { pool, clock, emitted, build, seal } = start()
  const building = build([tip('alice')])
  await settle()
  await clock.advanceMs(everyMs / 2)
  pool.add(tip('bob'), tip('bob', 1n))
  await settle()
  seal.abort()
  const built = await building
  if (built.kind === 'invalid') expect.fail(built.reason)
  const { payload } = built
  expect(emitted.flatMap(({ transactions }) => transactions)).toEqual(payload.transactions)
  expect(emitted.map(({ index }) => index)).toEqual(emitted.map((_, at) => at))
  expect(new Set(emitted.map(({ payloadId }) => payloadId)).size).toBe(1)
  const { outcome } = emitted.at(-1) ?? expect.fail('no flashblock was emitted')
  const { receiptsRoot, logsBloom, gasUsed, withdrawalsRoot, blobGasUsed } = payload
  expect(outcome).toEqual({ stateRoot: zeroHash, receiptsRoot, logsBloom, gasUsed, withdrawalsRoot, blobGasUsed })
})

it('block/building/buildFlashblocks: puts base fields into the first flashblock, receipts and balances into each', async () => {
  const { pool, emitted, execution, build, seal } = start()
  const { hash } = execution.published.heads.unsafe
  pool.add(tip('alice'))
  const building = build()
  await settle()
  seal.abort()
  const built = await building
  if (built.kind === 'invalid') expect.fail(built.reason)
  const { payload } = built
  const [first, second] = emitted
  expect(first?.base).toEqual({
    parentHash: hash,
    parentBeaconBlockRoot: payload.parentBeaconBlockRoot,
    feeRecipient: payload.feeRecipient,
    prevRandao: payload.prevRandao,
    gasLimit: payload.gasLimit,
    timestamp: payload.timestamp,
    extraData: payload.extraData,
    baseFee: payload.baseFeePerGas,
  })
  expect([second?.base, second?.receipts.length, second?.receipts[0]?.receipt.cumulativeGasUsed]).toEqual([undefined, 1, payload.gasUsed])
  await execution.setHeads({
    ...execution.published.heads,
    unsafe: { ...execution.published.heads.unsafe, number: 1, hash: payload.blockHash },
  })
  using view = execution.view()
  const state = view.state({ number: 1, hash: payload.blockHash })
  expect(second?.balances.map(({ balanceWei }) => balanceWei)).toEqual(
    second?.balances.map(({ address }) => state?.account(address)?.balance ?? 0n),
  )
  expect(second?.balances.length).toBeGreaterThan(3)
})

it('block/building/buildFlashblocks: emits fewer flashblocks and no transaction twice when the build is held up', async () => {
  const { pool, clock, emitted, build, seal } = start()
  const building = build()
  await settle()
  clock.jumpMs(0)
  await clock.advanceMs(everyMs * 5.5)
  pool.add(tip('alice'))
  await settle()
  expect(emitted.length).toBeLessThanOrEqual(7)
  seal.abort()
  await building
  expect(emitted.flatMap(({ transactions }) => transactions)).toHaveLength(2)
})

it('block/building/buildFlashblocks: emits nothing for a block without pool transactions', async () => {
  const { emitted, execution } = start()
  await execution.build(execution.published.heads.unsafe, attributesAt(schedule, 1))
  expect(emitted).toEqual([])
})

import { expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { MeterOutcome, MeterWork } from '#rpc/meterPorts'
import { accountOf, attributesAt, chainStart, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashTransaction } from '#types/transaction'
import { createMetering } from './meter.ts'

const schedule = scheduleTo('jovian')
const reverting = testAccount(testAddress(0x66), { nonce: 1n, code: '0x60006000fd' })
const { genesis, config } = smallChain(schedule, [reverting])
const evm = createWasmEvm()

const transfer = (nonce: bigint, more: object = {}): Uint8Array => signedBy('alice', { nonce, maxFeePerGas: 2_000_000_000n, ...more })

/** A chain whose head is a block with transactions. */
async function start(...transactions: readonly Uint8Array[]) {
  const execution = createExecution({
    ...{ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock: systemClock, log: silentLog },
  })
  const { heads } = execution.published
  const built = await execution.build(heads.unsafe, attributesAt(schedule, 1, transactions))
  if (built.kind !== 'built') expect.fail(built.reason)
  await execution.setHeads({ ...heads, unsafe: l2RefOf(config as Parameters<typeof l2RefOf>[0], built.payload) })
  const times = { blockTimeSec: 2, genesis: { ...config.genesis, l2TimeSec: chainStart } }
  const metering = createMetering({ execution, evm, config: { ...config, ...times }, clock: systemClock })
  return { execution, metering, payload: built.payload }
}

function measured<T>(work: MeterWork<T> | undefined): MeterOutcome<T> | undefined {
  if (work === undefined) return undefined
  using run = work
  while (run.work() === false);
  return run.outcome
}

it('simulation/metering/meter: executes a block again and reports gas and time of each transaction', async () => {
  const transactions = [transfer(0n), transfer(1n)]
  const { metering, payload } = await start(...transactions)
  const outcome = measured(metering.block(payload.blockHash))
  if (outcome?.kind !== 'measured') expect.fail(JSON.stringify(outcome))
  const { recoveryUs, executionUs, stateRootUs } = outcome.value
  expect(outcome.value.transactions.map(({ hash }) => hash)).toEqual(payload.transactions.map(hashTransaction))
  expect(outcome.value.transactions.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)).toBe(payload.gasUsed)
  for (const us of [recoveryUs, executionUs, stateRootUs]) expect(us).toBeGreaterThan(0)
  expect(executionUs).toBeGreaterThanOrEqual(outcome.value.transactions.reduce((sum, { executionUs: us }) => sum + us, 0))
})

it('simulation/metering/meter: returns undefined for an unknown block', async () => {
  const { metering } = await start()
  expect(metering.block(hashOf('nothing'))).toBeUndefined()
})

it('simulation/metering/meter: runs a bundle on the head from the first nonce of each sender on, with reverts, and changes nothing', async () => {
  const { metering, execution } = await start()
  const transactions = [transfer(7n), transfer(8n, { to: testAddress(0x66), gasLimit: 50_000n }), signedBy('bob', { nonce: 0n, value: 5n })]
  const outcome = measured(metering.bundle({ transactions, timestamp: undefined }))
  if (outcome?.kind !== 'measured') expect.fail(JSON.stringify(outcome))
  expect(outcome.value.stateBlock).toBe(1)
  expect(outcome.value.results).toMatchObject([
    { hash: hashTransaction(transactions[0] as Uint8Array), from: accountOf('alice'), gasUsed: 21_000n, feeCap: 2_000_000_000n },
    { to: testAddress(0x66), gasUsed: expect.toSatisfy((gas: bigint) => gas > 21_000n && gas < 50_000n) },
    { from: accountOf('bob'), value: 5n },
  ])
  expect(outcome.value.stateRootUs).toBeGreaterThan(0)
  using view = execution.view()
  expect(view.state(view.heads.latest)?.account(accountOf('alice'))?.nonce).toBe(0n)
})

const now = undefined
it.each<[string, readonly Uint8Array[], number | undefined, object]>([
  ['undecodable bytes', [Uint8Array.of(2, 0xc0)], now, { kind: 'unreadable', reason: expect.stringContaining('transaction 0') }],
  ['a nonce too far ahead', [transfer(10_001n)], now, { kind: 'refused', reason: expect.stringContaining('too far above') }],
  ['a nonce gap', [transfer(0n), transfer(2n)], now, { kind: 'refused', reason: expect.stringContaining('nonce too high') }],
  [
    'a value above the balance',
    [transfer(0n, { value: 10n ** 20n })],
    now,
    { kind: 'refused', reason: expect.stringContaining('insufficient funds') },
  ],
  ['a gas limit above the maximum of a call', [transfer(0n, { gasLimit: 50_000_001n })], now, { kind: 'unreadable' }],
  ['a time before the head', [transfer(0n)], 5, { kind: 'refused', reason: expect.stringContaining('timestamp') }],
  ['a time too far ahead', [transfer(0n)], 2 ** 40, { kind: 'refused', reason: expect.stringContaining('timestamp') }],
])('simulation/metering/meter: refuses a bundle with %s', async (_what, transactions, timestamp, expected) => {
  const { metering } = await start()
  expect(measured(metering.bundle({ transactions, timestamp }))).toMatchObject(expected)
})

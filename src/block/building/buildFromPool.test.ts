import { expect, it } from 'vitest'
import { createExecution, type Execution } from '#blockchain/execution'
import { l1BlockAddress } from '#chainspec/addresses'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { Kv } from '#store/ports'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createListedPool } from '#test/harness/chain/buildPool'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { parseHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { hashTransaction } from '#types/transaction'

const schedule = scheduleTo('jovian')
/** A contract that reverts. */
const reverting = testAccount(testAddress(0x66), { nonce: 1n, code: '0x60006000fd' })
const chain = smallChain(schedule, [reverting])
const { config } = chain

const slot = (index: number) => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
/** L1Block without code, so that its values stay: a small data price, and a DA footprint of 400 gas per byte. */
const l1Block = testAccount(l1BlockAddress, {
  nonce: 1n,
  storage: new Map([
    [slot(1), 7n],
    [slot(3), 1n << 96n],
    [slot(8), 400n << 96n],
  ]),
})

const withPool = (
  number: number,
  transactions: readonly Uint8Array[] = [],
  change: Partial<PayloadAttributes> = {},
): PayloadAttributes => ({
  ...attributesAt(schedule, number, transactions),
  noTxPool: false,
  ...change,
})
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** A store that counts all snapshots and the open ones. */
function countingKv(): Kv & { readonly open: number; readonly opened: number } {
  const inner = createMemoryKv()
  let open = 0
  let opened = 0
  return {
    write: (run) => inner.write(run),
    freeBytes: () => inner.freeBytes(),
    snapshot() {
      const reader = inner.snapshot()
      const end = reader[Symbol.dispose].bind(reader)
      open++
      opened++
      return Object.assign(reader, {
        [Symbol.dispose]() {
          open--
          end()
        },
      })
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    get open() {
      return open
    },
    get opened() {
      return opened
    },
  }
}

/** A chain with a pool. @param stepMs advance of the clock at each reading */
function start(stepMs = 0, { genesis, config } = chain) {
  const pool = createListedPool()
  const kv = countingKv()
  const manual = createManualClock()
  let elapsedMs = 0
  const clock: Clock = { ...manual, elapsedMs: () => (elapsedMs += stepMs) }
  const execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock, log: silentLog, pool })
  const head = () => execution.published.heads.unsafe
  const build = (attributes: PayloadAttributes, seal?: AbortSignal, onForcedExecuted?: () => void) =>
    payloadOf(execution.build(head(), attributes, seal, onForcedExecuted))
  return { pool, kv, execution, build, head }
}

async function payloadOf(build: ReturnType<Execution['build']>): Promise<Payload> {
  const result = await build
  return result.kind === 'built' ? result.payload : expect.fail(result.reason)
}

/** Transactions after the L1 attributes. */
const taken = ({ transactions }: Payload) => transactions.slice(1)

const tip = (name: string, wei: bigint, nonce = 0n, change: Parameters<typeof signedBy>[1] = {}) =>
  signedBy(name, { nonce, maxPriorityFeePerGas: wei, ...change })

it('block/building/buildFromPool: takes the highest tips after the forced transactions, and another execution accepts the block', async () => {
  const { pool, build } = start()
  const [low, high, later] = [tip('alice', 5n, 1n), tip('bob', 900n), tip('bob', 1n, 1n)]
  pool.add(low, high, later)
  const forced = tip('alice', 1n)
  const payload = await build(withPool(1, [forced]))
  expect(taken(payload)).toEqual([forced, high, low, later])
  expect(await start().execution.insert(payload)).toEqual({ kind: 'valid' })
  expect(pool.listeners).toBe(0)
})

it('block/building/buildFromPool: takes nothing with noTxPool or with a seal that is aborted from the start', async () => {
  const { pool, build } = start()
  pool.add(tip('bob', 900n))
  expect(taken(await build(attributesAt(schedule, 1)))).toEqual([])
  let isSound = false
  const payload = await build(withPool(1), AbortSignal.abort(), () => {
    isSound = true
  })
  expect([taken(payload), isSound]).toEqual([[], false])
})

it('block/building/buildFromPool: takes additions until the seal, and keeps no snapshot open while it waits', async () => {
  const { pool, kv, build } = start()
  const seal = new AbortController()
  const [first, second, late] = [tip('alice', 5n), tip('bob', 900n), tip('bob', 1n, 1n)]
  pool.add(first)
  let isSound = false
  const building = build(withPool(1), seal.signal, () => {
    isSound = true
  })
  expect([isSound, kv.open]).toEqual([true, 0])
  const { opened } = kv
  for (let i = 0; i < 10; i++) await turn()
  expect(kv.opened - opened).toBeLessThanOrEqual(4)
  pool.add(second)
  await turn()
  await turn()
  expect(kv.open).toBe(0)
  seal.abort()
  pool.add(late)
  const payload = await building
  expect(taken(payload)).toEqual([first, second])
  expect([kv.open, pool.listeners]).toEqual([0, 0])
})

it('block/building/buildFromPool: ends after the current step when it is sealed with candidates left', async () => {
  // the clock is read before the step and after each of its transactions
  const { pool, build } = start(3)
  pool.add(...Array.from({ length: 50 }, (_, i) => tip('alice', 5n, BigInt(i))))
  const seal = new AbortController()
  const building = build(withPool(1), seal.signal)
  seal.abort()
  expect(taken(await building)).toHaveLength(3)
})

it('block/building/buildFromPool: ends without a seal after a quarter of the block time with candidates left', async () => {
  // the clock is read four times for each transaction, which is a step of its own: 160 of 500 ms
  const { pool, build } = start(40)
  pool.add(...Array.from({ length: 50 }, (_, i) => tip('alice', 5n, BigInt(i))))
  expect(taken(await build(withPool(1)))).toHaveLength(3)
})

it('block/building/buildFromPool: builds the same block when inserts, head changes and other builds run between its steps', async () => {
  const many = Array.from({ length: 50 }, (_, i) => tip('alice', 5n, BigInt(i)))
  const calm = start()
  calm.pool.add(...many)
  const expected = await calm.build(withPool(1))

  const { pool, execution, build, head, kv } = start(3)
  pool.add(...many)
  const base = head()
  let isDone = false
  const building = build(withPool(1)).then((payload) => {
    isDone = true
    return payload
  })
  const other = await payloadOf(execution.build(base, attributesAt(schedule, 1, [tip('bob', 3n)], 1)))
  await execution.setHeads({ ...execution.published.heads, unsafe: l2RefOf(config, other) })
  execution.commit()
  const inserted = await payloadOf(start().execution.build(base, attributesAt(schedule, 1, [], 2)))
  expect([await execution.insert(inserted), isDone, kv.open]).toEqual([{ kind: 'valid' }, false, 0])
  expect(await building).toEqual(expected)
  expect(await payloadOf(execution.build(base, withPool(1, [], { prevRandao: base.hash })))).toMatchObject({ gasUsed: expected.gasUsed })
})

it('block/building/buildFromPool: leaves no trace of a refused candidate, and drops it for good only when no block could take it', async () => {
  const { pool, build } = start()
  const good = tip('bob', 3n)
  const wrong = [
    tip('alice', 9n, 7n),
    tip('carol', 8n),
    tip('dave', 5n, 0n, { chainId: 5n }),
    tip('erin', 4n, 0n, { gasLimit: 20_000n }),
    tip('frank', 5n, 0n, { maxFeePerGas: 4n, maxPriorityFeePerGas: 5n }),
    tip('bob', 1n, 1n, { value: 10n ** 18n }),
    tip('grace', 2n, 0n, { gasLimit: 31_000_000n }),
  ]
  pool.add(good, ...wrong)
  const payload = await build(withPool(1))
  const alone = start()
  alone.pool.add(good)
  expect(payload).toEqual(await alone.build(withPool(1)))
  const why = new Map(pool.skipped)
  expect(wrong.map((raw) => why.get(hashTransaction(raw)))).toEqual(['now', 'now', 'never', 'never', 'never', 'now', 'never'])
})

it('block/building/buildFromPool: includes a transaction that reverts, and its sender pays', async () => {
  const { pool, build, execution } = start()
  const raw = tip('bob', 3n, 0n, { to: testAddress(0x66), value: 0n, gasLimit: 50_000n })
  pool.add(raw, tip('bob', 2n, 1n))
  const payload = await build(withPool(1))
  expect(taken(payload)).toHaveLength(2)
  using view = execution.view()
  expect(view.receipts(payload.blockHash)?.map(({ receipt }) => receipt.succeeded)).toEqual([true, false, true])
})

it('block/building/buildFromPool: ends by itself when no gas or no DA footprint is left', async () => {
  const { pool, build } = start()
  pool.add(...Array.from({ length: 60 }, (_, i) => tip('alice', 5n, BigInt(i))))
  const never = new AbortController().signal
  const small = await build(withPool(1, [], { gasLimit: 1_090_000n }), never)
  expect(small.gasLimit - small.gasUsed).toBeLessThan(21_000n)
  const { pool: other, build: buildOther } = start(0, smallChain(schedule, [l1Block]))
  other.add(...Array.from({ length: 60 }, (_, i) => tip('alice', 5n, BigInt(i))))
  // 400 gas per byte, at least 100 bytes: 40,000 gas each
  const full = await buildOther(withPool(1, [], { gasLimit: 1_090_000n }), never)
  expect([taken(full).length, full.blobGasUsed]).toEqual([27, 1_080_000n])
  expect(full.gasLimit - full.gasUsed).toBeGreaterThan(21_000n)
})

it('block/building/buildFromPool: applies the data limits of one transaction and of the block', async () => {
  const { pool, build, execution } = start()
  const data = Uint8Array.from({ length: 600 }, (_, i) => (i * i * 7 + i) & 255)
  const long = tip('alice', 9n, 0n, { gasLimit: 200_000n, data })
  const short = Array.from({ length: 8 }, (_, i) => tip('bob', 5n, BigInt(i)))
  pool.add(long, ...short)
  execution.limitBlocks({ maxTransactionBytes: 200, maxBlockBytes: 550 })
  expect(taken(await build(withPool(1), new AbortController().signal))).toEqual(short.slice(0, 5))
  const other = start()
  other.execution.limitBlocks({ maxBlockBytes: 350 })
  other.pool.add(...short.slice(0, 2), tip('alice', 1n, 0n, { gasLimit: 200_000n, data }))
  expect(taken(await other.build(withPool(1)))).toEqual(short.slice(0, 2))
  execution.limitBlocks({ maxTransactionBytes: undefined, maxBlockBytes: undefined })
  expect(taken(await build(withPool(1)))).toEqual([long, ...short])
})

it('block/building/buildFromPool: applies a gas limit below that of the block until it is lifted', async () => {
  const { pool, build, execution } = start()
  const short = Array.from({ length: 8 }, (_, i) => tip('bob', 5n, BigInt(i)))
  pool.add(...short)
  const whole = await build(withPool(1))
  const each = (whole.gasUsed - (await build({ ...withPool(1), noTxPool: true })).gasUsed) / 8n
  execution.limitBlocks({ maxBlockGas: whole.gasUsed - each })
  execution.limitBlocks({ maxBlockBytes: 100_000 })
  expect(taken(await build(withPool(1)))).toEqual(short.slice(0, 7))
  execution.limitBlocks({ maxBlockGas: undefined })
  expect(taken(await build(withPool(1)))).toEqual(short)
})

it('block/building/buildFromPool: returns invalid at once when a forced transaction cannot be executed, and does not call onForcedExecuted', async () => {
  const { pool, execution, head } = start()
  let isSound = false
  const result = await execution.build(head(), withPool(1, [tip('carol', 1n)]), new AbortController().signal, () => {
    isSound = true
  })
  expect([result.kind, isSound, pool.listeners]).toEqual(['invalid', false, 0])
})

it('block/building/buildFromPool: rejects a build in progress when the execution closes', async () => {
  const { pool, execution, build } = start()
  const building = build(withPool(1), new AbortController().signal)
  await execution.close()
  pool.add(tip('bob', 3n))
  await expect(building).rejects.toThrow('closed')
  expect(pool.listeners).toBe(0)
})

it.each([
  [2, true],
  [3, false],
  [4, false],
])(
  'block/building/buildFromPool: in block %i, when the third is the first under Azul, takes a transaction above the gas cap: %s',
  async (number, isIn) => {
    const { timestamp: azul } = attributesAt(schedule, 3)
    const { pool, build, execution, head } = start(0, smallChain({ ...schedule, azul }, [reverting]))
    for (let below = 1; below < number; below++) {
      const payload = await build(attributesAt(schedule, below))
      await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
    }
    expect(head().number).toBe(number - 1)
    const [above, other] = [tip('alice', 900n, 0n, { gasLimit: 16_777_217n }), tip('bob', 5n, 0n, { gasLimit: 12_000_000n })]
    pool.add(above, other)
    expect(taken(await build(withPool(number)))).toEqual(isIn ? [above, other] : [other])
    expect(pool.skipped).toEqual(isIn ? [] : [[hashTransaction(above), 'never']])
  },
)

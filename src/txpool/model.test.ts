import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { drain, nameOf, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import { type ModelLimits, PoolModel } from '#test/harness/chain/poolModel'
import { hashTransaction } from '#types/transaction'
import type { TxPool } from './txPool.ts'

const senders = 5
const delegation = Uint8Array.from([0xef, 0x01, 0x00, ...new Uint8Array(20).fill(7)])

const sender = fc.nat({ max: senders - 1 })
const add = fc.record({
  kind: fc.constant('add' as const),
  sender,
  ahead: fc.integer({ min: -1, max: 5 }),
  tip: fc.bigInt({ min: 1n, max: 10n ** 6n }),
  room: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  value: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 12n })),
  dataBytes: fc.oneof(fc.constant(0), fc.nat({ max: 1_500 })),
})
const changes = fc.array(fc.record({ sender, balance: fc.bigInt({ min: 0n, max: 10n ** 12n }), isDelegated: fc.boolean() }), {
  maxLength: 2,
})
const head = fc.record({ kind: fc.constant('head' as const), take: fc.nat({ max: 6 }), blocks: fc.integer({ min: 1, max: 3 }), changes })
const reorg = fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 3 }), take: fc.nat({ max: 3 }), changes })
const never = fc.record({ kind: fc.constant('never' as const), index: fc.nat({ max: 5 }) })
const command = fc.oneof(
  { weight: 12, arbitrary: add },
  { weight: 3, arbitrary: head },
  { weight: 1, arbitrary: reorg },
  { weight: 1, arbitrary: never },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never
type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

type Shown = { readonly raw: Uint8Array; readonly isPending: boolean }
const addresses = Array.from({ length: senders }, (_, n) => poolAccount(n))
const senderOf = (raw: Uint8Array) => poolAccount(Number(nameOf(raw).split('/')[0]))

/** The pool and the model on the same chain. */
class Pair {
  readonly chain = new PoolChain()
  readonly pool: TxPool
  readonly model: PoolModel
  readonly #limits: ModelLimits
  /** transactions of the blocks above genesis */
  #blocks: (readonly Uint8Array[])[] = []

  constructor(limits: ModelLimits) {
    this.#limits = limits
    this.chain.include(
      [],
      addresses.map((address) => [address, { nonce: 0n, balance: 10n ** 12n }]),
    )
    this.pool = this.chain.pool(limits)
    this.model = new PoolModel(limits, 1_000n, (address) => this.chain.account(address))
  }

  run(one: Command): void {
    if (one.kind === 'add') this.#add(one)
    else if (one.kind === 'head') this.#head(one)
    else if (one.kind === 'reorg') this.#reorg(one)
    else this.#never(one)
  }

  #add({ sender: n, ahead, tip, room, value, dataBytes }: Of<'add'>): void {
    const nonce = this.chain.account(poolAccount(n)).nonce + BigInt(ahead)
    const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: tip + room }
    // twice the floor price of data, so that the gas limit is always sufficient
    const data = new Uint8Array(dataBytes).fill(1)
    const raw = poolTransaction(n, { nonce: nonce < 0n ? 0n : nonce, ...fees, value, data, gasLimit: 21_000n + 40n * BigInt(dataBytes) })
    const [outcome] = this.pool.add([raw])
    expect(outcome?.kind === 'refused' ? outcome.refusal.kind : outcome?.kind).toBe(this.model.add(raw, poolAccount(n)))
  }

  /** Adds a block with the pool's next `take` transactions and the given account changes. */
  #grow(take: number, changed: Of<'head'>['changes']): HeadRecord {
    const cursor = this.pool.best(1_000n)
    const raws: Uint8Array[] = []
    for (let next = cursor.next(); next && raws.length < take; next = cursor.next()) raws.push(next.raw)
    this.#blocks.push(raws)
    const nonceOf = (n: number): bigint =>
      raws.reduce((nonce, raw) => (senderOf(raw) === poolAccount(n) ? nonce + 1n : nonce), this.chain.account(poolAccount(n)).nonce)
    return this.chain.include(
      raws,
      changed.map(({ sender: n, balance, isDelegated }) => [
        poolAccount(n),
        { nonce: nonceOf(n), balance, ...(isDelegated && { code: delegation }) },
      ]),
    )
  }

  #head({ take, blocks, changes: changed }: Of<'head'>): void {
    let record = this.#grow(take, changed)
    for (let i = 1; i < blocks; i++) {
      this.#blocks.push([])
      record = this.chain.include([])
    }
    this.pool.onPublished(record)
    this.model.onHead([])
  }

  #reorg({ depth, take, changes: changed }: Of<'reorg'>): void {
    const count = Math.min(depth, this.#blocks.length)
    const unwound = this.#blocks.splice(this.#blocks.length - count).flat()
    this.chain.unwind(count)
    const kept = unwound.slice(0, take)
    this.#blocks.push(kept)
    const touched = changed.filter(({ sender: n }) => !kept.some((raw) => senderOf(raw) === poolAccount(n)))
    const record = this.chain.include(
      kept,
      touched.map(({ sender: n, balance }) => [poolAccount(n), { nonce: this.chain.account(poolAccount(n)).nonce, balance }]),
    )
    this.pool.onPublished(record)
    this.model.onHead(unwound.map((raw) => ({ raw, sender: senderOf(raw) })))
  }

  #never({ index }: Of<'never'>): void {
    const cursor = this.pool.best(1_000n)
    for (let i = 0; ; i++) {
      const next = cursor.next()
      if (next === undefined) return
      if (i < index) continue
      cursor.skip(next, 'never')
      this.model.drop(next.raw)
      return
    }
  }

  check(): void {
    const shown = ({ raw, isPending }: Shown): string => `${nameOf(raw)} ${isPending ? 'pending' : 'queued'} ${hashTransaction(raw)}`
    const content = this.model.content()
    expect(this.pool.content().map(shown)).toEqual(content.map(shown))
    const { pending, queued, heldBytes } = this.pool.facts()
    expect(heldBytes).toBe(this.model.bytes)
    expect(heldBytes).toBeLessThanOrEqual(this.#limits.maxBytes)
    expect([pending, pending + queued]).toEqual([content.filter(({ isPending }) => isPending).length, content.length])
    expect(drain(this.pool)).toEqual(this.model.best().map(nameOf))
    for (const address of addresses) {
      const of = this.model.pending(address)
      const { nonce } = this.chain.account(address)
      expect(this.pool.nextNonce(address)).toBe(of.length === 0 ? undefined : nonce + BigInt(of.length))
    }
  }
}

it.each([
  ['room for all', { maxBytes: 10 ** 9, maxAccountBytes: 10 ** 8 }],
  ['room for a dozen', { maxBytes: 26_000, maxAccountBytes: 15_000 }],
  ['an account that may fill it', { maxBytes: 13_000, maxAccountBytes: 13_000 }],
])('txpool/txPool: holds and orders the same transactions as the model with %s', (_what, limits) => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 20, maxLength: 50, size: 'max' }), (commands) => {
      const pair = new Pair(limits)
      for (const one of commands) {
        pair.run(one)
        pair.check()
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

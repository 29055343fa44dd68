import { describe, expect, it } from 'vitest'
import type { Engine, Heads } from '#engine/port'
import { attributesAt, hashOf, signedBy } from '#test/harness/chain/blocks'
import type { Payload, PayloadAttributes } from '#types/payload'
import { at, builtBy, chain, type EngineChain, insertAll, made, type OpenEngine, openExecution, refOf, schedule } from './engine.ts'

export type OpenPooledEngine = OpenEngine & {
  /** Adds a signed transaction to the pool. */
  add(raw: Uint8Array): Promise<unknown>
  /** Resolves after current builds have run another turn. */
  turn(): Promise<unknown>
}

/** Transfer of one wei with a priority fee in wei per gas. */
const pay = (from: 'alice' | 'bob' | 'carol', tip: bigint, nonce: bigint, gasLimit = 21_000n): Uint8Array =>
  signedBy(from, { nonce, maxPriorityFeePerGas: tip, gasLimit })

const withPool = (attributes: PayloadAttributes): PayloadAttributes => ({ ...attributes, noTxPool: false })

async function turns(opened: OpenPooledEngine): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await opened.turn()
}

/** Starts a build and waits until its forced transactions are executed. */
async function begun(engine: Engine, parent: Heads['unsafe'], attributes: PayloadAttributes) {
  const seal = new AbortController()
  const sound = Promise.withResolvers<void>()
  let isDone = false
  const building = engine.build(parent, attributes, seal.signal, sound.resolve).then((result) => {
    isDone = true
    return result.kind === 'built' ? result.payload : expect.fail(result.reason)
  })
  await sound.promise
  return { seal, building, isDone: () => isDone }
}

/** Builds a block with time for a few transactions: at least one per turn. */
async function filled(opened: OpenPooledEngine, parent: Heads['unsafe'], attributes: PayloadAttributes): Promise<Payload> {
  const { seal, building } = await begun(opened.engine, parent, attributes)
  await turns(opened)
  seal.abort()
  return await building
}

/** Tests that every adapter of the port `Engine` with a pool must pass. */
export function enginePoolContract(adapter: string, open: (chain: EngineChain) => Promise<OpenPooledEngine>): void {
  describe(`engine/port ${adapter}, with a pool`, () => {
    it('appends pool transactions to the forced ones by priority fee, and none with noTxPool', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      const [low, high, next] = [pay('alice', 2n, 0n), pay('bob', 900n, 0n), pay('bob', 1n, 1n)]
      for (const raw of [low, high, next]) await opened.add(raw)
      const forced = pay('carol', 1n, 0n)
      const payload = await filled(opened, unsafe, withPool(attributesAt(schedule, 1, [forced])))
      expect(payload.transactions.slice(1)).toEqual([forced, high, low, next])
      expect(await openExecution(chain).insert(payload)).toEqual({ kind: 'valid' })
      expect(await engine.payload(payload.blockHash)).toEqual(payload)
      expect((await builtBy(engine, unsafe, attributesAt(schedule, 1))).transactions).toHaveLength(1)
    })

    it('adds new pool transactions to a build until it is sealed', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const first = pay('alice', 1n, 0n)
      await opened.add(first)
      const { seal, building, isDone } = await begun(engine, (await engine.heads()).unsafe, withPool(attributesAt(schedule, 1)))
      const second = pay('bob', 5n, 0n)
      await opened.add(second)
      await turns(opened)
      expect(isDone()).toBe(false)
      seal.abort()
      expect((await building).transactions.slice(1)).toEqual([first, second])
    })

    it('includes only forced transactions when sealed at once, and completes them when sealed meanwhile', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      await opened.add(pay('bob', 5n, 0n))
      const attributes = withPool(attributesAt(schedule, 1, [pay('alice', 1n, 0n)]))
      const early = await engine.build(unsafe, attributes, AbortSignal.abort())
      expect(early).toMatchObject({ kind: 'built', payload: { transactions: attributes.transactions } })
      const seal = new AbortController()
      const building = engine.build(unsafe, { ...attributes, prevRandao: hashOf('another') }, seal.signal)
      seal.abort()
      const { kind, payload } = (await building) as { kind: string; payload: Payload }
      expect([kind, payload.transactions.slice(0, 2)]).toEqual(['built', attributes.transactions])
    })

    it('skips a pool transaction that cannot be in the block, without a trace', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      const good = pay('bob', 5n, 0n)
      // one uses the nonce of a forced transaction, the other more gas than the block has left
      for (const raw of [pay('alice', 9n, 0n), good, pay('bob', 4n, 1n, 29_990_000n)]) await opened.add(raw)
      const forced = pay('alice', 1n, 0n)
      const payload = await filled(opened, unsafe, withPool(attributesAt(schedule, 1, [forced])))
      expect(payload).toEqual(await builtBy(openExecution(chain), unsafe, attributesAt(schedule, 1, [forced, good])))
    })

    it('returns invalid for attributes that cannot be executed, with any pool, before the seal', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      await opened.add(pay('bob', 5n, 0n))
      const bad = withPool(attributesAt(schedule, 1, [pay('alice', 1n, 7n)]))
      const never = new AbortController().signal
      expect(await engine.build((await engine.heads()).unsafe, bad, never)).toMatchObject({ kind: 'invalid', reason: expect.any(String) })
    })

    it('inserts, builds and labels other blocks during a build', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const genesis = (await engine.heads()).unsafe
      const first = pay('bob', 5n, 0n)
      await opened.add(first)
      const { seal, building } = await begun(engine, genesis, withPool(attributesAt(schedule, 1)))
      const trunk = await made(openExecution(chain), 2, { branch: 3, write: true })
      await insertAll(engine, trunk)
      const heads = { unsafe: refOf(at(trunk, 1)), safe: refOf(at(trunk, 0)), finalized: genesis }
      await engine.setHeads(heads)
      const above = await builtBy(engine, heads.unsafe, attributesAt(schedule, 3))
      expect(above.parentHash).toBe(heads.unsafe.hash)
      seal.abort()
      const payload = await building
      expect([payload.parentHash, payload.transactions.slice(1)]).toEqual([genesis.hash, [first]])
      expect(await engine.payload(payload.blockHash)).toEqual(payload)
    })
  })
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildPool } from '#block/building/buildPool'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { headerOfPayload } from '#engine/payloadHeader'
import type { Engine, Heads } from '#engine/port'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashHeader } from '#types/header'
import { emptyRoot, parseHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

/** Runs SSTORE(first word of the calldata, second word). */
const storage = testAddress(0x55)
const stored = testAccount(storage, { nonce: 1n, code: '0x6020355f355500' })
/** Number of the first Azul block, and of a block whose fork is not supported, at the times of `attributesAt`. */
const azulNumber = 3
const berylNumber = 50
const plain = scheduleTo('jovian')
const timeOf = (number: number): number => attributesAt(plain, number).timestamp
export const schedule = { ...plain, azul: timeOf(azulNumber), beryl: timeOf(berylNumber) }
export const chain = smallChain(schedule, [stored, testAccount(accountOf('carol'), { balance: 10n ** 18n })])
const { config } = chain

export type EngineChain = typeof chain
export type OpenEngine = AsyncDisposable & { readonly engine: Engine }

/** Execution half in memory, for adapters and for building payloads. */
export function openExecution({ genesis, config }: EngineChain, pool?: BuildPool): Execution {
  return createExecution({
    ...(pool && { pool }),
    kv: createMemoryKv(),
    evm: sharedEvm,
    config,
    genesis: () => genesis,
    clock: createManualClock(),
    log: silentLog,
  })
}

const word = (value: number): string => value.toString(16).padStart(64, '0')
const write = (nonce: bigint, slot: number, value: number): Uint8Array =>
  signedBy('alice', { nonce, to: storage, gasLimit: 100_000n, data: fromHex(`0x${word(slot)}${word(value)}`) })

export const refOf = (payload: Payload): Heads['unsafe'] => l2RefOf(config, payload)
/** Returns the payload with changed fields and the matching hash. */
const altered = (payload: Payload, change: Partial<Payload>): Payload => {
  const changed = { ...payload, ...change }
  return { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
}

export async function builtBy(engine: Engine, parent: Heads['unsafe'], attributes: PayloadAttributes): Promise<Payload> {
  const result = await engine.build(parent, attributes)
  if (result.kind === 'invalid') throw new Error(result.reason)
  return result.payload
}

/** Builds a chain of payloads with another execution, from genesis or on a parent that `maker` has. */
export async function made(
  maker: Execution,
  count: number,
  options: { on?: Payload; branch?: number; write?: boolean } = {},
): Promise<Payload[]> {
  const { branch = 0 } = options
  let parent = options.on ? refOf(options.on) : (await maker.heads()).finalized
  const payloads: Payload[] = []
  for (let i = 0; i < count; i++) {
    const number = parent.number + 1
    const transactions = options.write ? [write(BigInt(number - 1), number, number + branch)] : []
    const payload = await builtBy(maker, parent, attributesAt(schedule, number, transactions, branch))
    payloads.push(payload)
    parent = refOf(payload)
  }
  return payloads
}

export const at = <T>(list: readonly T[], index: number): T => list.at(index) ?? expect.fail(`no item ${index}`)
const fault = (code: string) => expect.objectContaining({ code })

export async function insertAll(engine: Engine, payloads: readonly Payload[]): Promise<void> {
  for (const payload of payloads) expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
}

/** Tests that every adapter of the port `Engine` must pass. `open` returns an adapter over a new chain. */
export function engineContract(adapter: string, open: (chain: EngineChain) => Promise<OpenEngine>): void {
  describe(`engine/port ${adapter}`, () => {
    it('labels the genesis block of a new chain unsafe, safe and finalized', async () => {
      await using opened = await open(chain)
      const { unsafe, safe, finalized } = await opened.engine.heads()
      expect([unsafe, safe, finalized].map(({ hash, number }) => ({ hash, number }))).toEqual(Array(3).fill(config.genesis.l2))
      expect(await opened.engine.payload(0)).toMatchObject({ blockHash: config.genesis.l2.hash, transactions: [] })
      expect(await opened.engine.payload(config.genesis.l2.hash)).toEqual(await opened.engine.payload(0))
    })

    it('build: returns the same payload as another execution, stores it and keeps the safe and finalized heads', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const before = await engine.heads()
      const attributes = attributesAt(schedule, 1, [write(0n, 1, 7)])
      const payload = await builtBy(engine, before.unsafe, attributes)
      expect(payload).toEqual(await builtBy(openExecution(chain), before.unsafe, attributes))
      expect(await engine.payload(payload.blockHash)).toEqual(payload)
      expect(await engine.payload(1)).toBeUndefined()
      expect(await engine.heads()).toEqual(before)
    })

    it('build: returns a payload for repeated and for concurrent attributes', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      const [one, other] = [attributesAt(schedule, 1), attributesAt(schedule, 1, [], 1)]
      const [a, b, again] = await Promise.all([one, other, one].map((attributes) => builtBy(engine, unsafe, attributes)))
      expect(a).toEqual(again)
      expect(b?.blockHash).not.toBe(a?.blockHash)
    })

    it('build: returns invalid for attributes with a transaction that cannot be executed, and keeps its state', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      for (const bad of [write(7n, 1, 1), Uint8Array.of(2, 0xba, 0xd), Uint8Array.of(0x7d)]) {
        expect(await engine.build(unsafe, attributesAt(schedule, 1, [bad]))).toMatchObject({ kind: 'invalid', reason: expect.any(String) })
      }
      expect((await builtBy(engine, unsafe, attributesAt(schedule, 1))).blockNumber).toBe(1)
    })

    it('insert: validates and stores a payload, also repeatedly', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 2, { write: true })
      await insertAll(engine, [...payloads, ...payloads])
      for (const payload of payloads) expect(await engine.payload(payload.blockHash)).toEqual(payload)
      expect((await engine.heads()).unsafe.number).toBe(0)
    })

    it('insert: rejects a wrong payload with a reason, and accepts the correct one afterwards', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const [payload = expect.fail()] = await made(openExecution(chain), 1, { write: true })
      const wrong: Payload[] = [
        { ...payload, blockHash: hashOf('another') },
        altered(payload, { stateRoot: hashOf('state') }),
        altered(payload, { receiptsRoot: hashOf('receipts') }),
        altered(payload, { withdrawalsRoot: hashOf('withdrawals') }),
        altered(payload, { gasUsed: payload.gasUsed + 1n }),
        altered(payload, { baseFeePerGas: 1n }),
        altered(payload, { transactions: payload.transactions.slice(1) }),
        altered(payload, { transactions: [...payload.transactions, Uint8Array.of(3)] }),
        altered(payload, { timestamp: attributesAt(plain, 0).timestamp }),
        altered(payload, { extraData: new Uint8Array(33) }),
      ]
      for (const one of wrong) expect(await engine.insert(one)).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(/./) })
      await insertAll(engine, [payload])
    })

    it('reports an unknown parent (UNKNOWN_PARENT)', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 2)
      await expect(engine.insert(at(payloads, 1))).rejects.toEqual(fault('UNKNOWN_PARENT'))
      await expect(engine.build(refOf(at(payloads, 0)), attributesAt(schedule, 2))).rejects.toEqual(fault('UNKNOWN_PARENT'))
      await insertAll(engine, payloads)
    })

    it('builds the last block before Azul, the first under it and the next one as another execution does', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), azulNumber + 1, { write: true })
      let parent = (await engine.heads()).finalized
      for (const payload of payloads) {
        const { blockNumber: number } = payload
        const built = await builtBy(engine, parent, attributesAt(schedule, number, [write(BigInt(number - 1), number, number)]))
        expect(built).toEqual(payload)
        parent = refOf(built)
      }
    })

    it('setHeads: makes a branch canonical with its labels, and heads returns them', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 5, { write: true })
      await insertAll(engine, payloads)
      const heads = { unsafe: refOf(at(payloads, 4)), safe: refOf(at(payloads, 2)), finalized: refOf(at(payloads, 0)) }
      await engine.setHeads(heads)
      expect(await engine.heads()).toEqual(heads)
      for (const payload of payloads) expect(await engine.payload(payload.blockNumber)).toEqual(payload)
      expect(await engine.payload(6)).toBeUndefined()
      await engine.setHeads(heads)
      expect(await engine.heads()).toEqual(heads)
    })

    it('setHeads: applies late labels without a change of the unsafe head', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 3)
      await insertAll(engine, payloads)
      const [first, second, unsafe] = payloads.map(refOf)
      if (!first || !second || !unsafe) throw new Error('three blocks')
      const { finalized } = await engine.heads()
      for (const heads of [
        { unsafe, safe: finalized, finalized },
        { unsafe, safe: second, finalized },
        { unsafe, safe: second, finalized: first },
        { unsafe, safe: unsafe, finalized: unsafe },
      ]) {
        await engine.setHeads(heads)
        expect(await engine.heads()).toEqual(heads)
      }
    })

    it('setHeads: moves the unsafe head to an ancestor, on which blocks are built', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 4, { write: true })
      await insertAll(engine, payloads)
      const [first, second] = payloads.map(refOf)
      if (!first || !second) throw new Error('two blocks')
      await engine.setHeads({ unsafe: refOf(at(payloads, 3)), safe: first, finalized: first })
      await engine.setHeads({ unsafe: second, safe: first, finalized: first })
      expect((await engine.heads()).unsafe).toEqual(second)
      expect(await engine.payload(3)).toBeUndefined()
      const other = await builtBy(engine, second, attributesAt(schedule, 3, [write(2n, 9, 9)], 5))
      await engine.setHeads({ unsafe: refOf(other), safe: second, finalized: first })
      expect(await engine.payload(3)).toEqual(other)
    })

    it('build: builds on an ancestor of the unsafe head', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 3)
      await insertAll(engine, payloads)
      const [first, second, third] = payloads.map(refOf)
      if (!first || !second || !third) throw new Error('three blocks')
      await engine.setHeads({ unsafe: third, safe: second, finalized: first })
      const other = await builtBy(engine, first, attributesAt(schedule, 2, [], 3))
      await engine.setHeads({ unsafe: refOf(other), safe: first, finalized: first })
      expect(await engine.heads()).toEqual({ unsafe: refOf(other), safe: first, finalized: first })
    })

    it('setHeads: reorganizes there and back, and keeps the other branch readable by hash', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const maker = openExecution(chain)
      const trunk = await made(maker, 2, { write: true })
      const one = await made(maker, 2, { on: at(trunk, 1), branch: 1, write: true })
      const other = await made(maker, 3, { on: at(trunk, 1), branch: 2, write: true })
      await insertAll(engine, [...trunk, ...other, ...one])
      const base = { safe: refOf(at(trunk, 0)), finalized: refOf(at(trunk, 0)) }
      for (const branch of [one, other, one]) {
        await engine.setHeads({ unsafe: refOf(at(branch, -1)), ...base })
        for (const payload of branch) expect(await engine.payload(payload.blockNumber)).toEqual(payload)
        for (const payload of [...one, ...other]) expect(await engine.payload(payload.blockHash)).toEqual(payload)
      }
      expect(await engine.payload(5)).toBeUndefined()
    })

    describe('setHeads, on one chain', () => {
      let shared: {
        readonly opened: OpenEngine
        readonly refs: readonly Heads['unsafe'][]
        readonly side: Heads['unsafe']
        readonly heads: Heads
      }
      beforeAll(async () => {
        const opened = await open(chain)
        const { engine } = opened
        const maker = openExecution(chain)
        const trunk = await made(maker, 2)
        const [side = expect.fail()] = await made(maker, 1, { branch: 4 })
        await insertAll(engine, [...trunk, side])
        const refs = [(await engine.heads()).finalized, ...trunk.map(refOf)]
        const heads = { unsafe: need(refs[2]), safe: need(refs[1]), finalized: need(refs[1]) }
        await engine.setHeads(heads)
        shared = { opened, refs, side: refOf(side), heads }
      })
      afterAll(() => shared.opened[Symbol.asyncDispose]())

      it.each<[string, (refs: readonly Heads['unsafe'][], side: Heads['unsafe']) => Heads]>([
        [
          'an unknown unsafe head',
          ([genesis, a]) => ({ unsafe: { ...need(a), hash: hashOf('unknown') }, safe: need(genesis), finalized: need(genesis) }),
        ],
        [
          'an unknown safe head',
          ([genesis, a]) => ({ unsafe: need(a), safe: { ...need(a), hash: hashOf('unknown') }, finalized: need(genesis) }),
        ],
        ['a safe head above the unsafe one', ([genesis, a, b]) => ({ unsafe: need(a), safe: need(b), finalized: need(genesis) })],
        ['a safe head of another branch', ([genesis, , b], side) => ({ unsafe: need(b), safe: side, finalized: need(genesis) })],
        ['a finalized head above the safe one', ([, a, b]) => ({ unsafe: need(b), safe: need(a), finalized: need(b) })],
        [
          'an unsafe head below the finalized one',
          ([genesis]) => ({ unsafe: need(genesis), safe: need(genesis), finalized: need(genesis) }),
        ],
        ['a branch without the finalized head', ([genesis], side) => ({ unsafe: side, safe: need(genesis), finalized: need(genesis) })],
      ])('rejects %s and moves no head (INVALID_FORKCHOICE)', async (_what, headsOf) => {
        const { opened, refs, side, heads } = shared
        expect(await opened.engine.heads()).toEqual(heads)
        await expect(opened.engine.setHeads(headsOf(refs, side))).rejects.toEqual(fault('INVALID_FORKCHOICE'))
        expect(await opened.engine.heads()).toEqual(heads)
      })
    })

    it('storageRoot: returns the root with storage, without storage and without an account, and none for an unknown block', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const maker = openExecution(chain)
      const payloads = await made(maker, 2, { write: true })
      await insertAll(engine, payloads)
      const rootAt = (payload: Payload) => engine.storageRoot(storage, refOf(payload))
      const ahead = await rootAt(at(payloads, 1))
      await engine.setHeads({ ...(await engine.heads()), unsafe: refOf(at(payloads, 1)) })
      const [first, second] = [await rootAt(at(payloads, 0)), await rootAt(at(payloads, 1))]
      expect([first, second]).toEqual(await Promise.all(payloads.map((payload) => maker.storageRoot(storage, refOf(payload)))))
      if (ahead !== undefined) expect(ahead).toBe(second) // an execution half in another process may have no proof before the block is canonical
      expect(new Set([first, second, emptyRoot]).size).toBe(3)
      for (const account of [testAddress(0xfe), testAddress(0xde)]) {
        expect(await engine.storageRoot(account, refOf(at(payloads, 1)))).toBe(emptyRoot)
      }
      const unknown = { number: 2, hash: parseHash(toHex(keccak256(Uint8Array.of(1)))) }
      expect(await engine.storageRoot(storage, unknown)).toBeUndefined()
    })

    it('payload: returns undefined for an unknown number or hash', async () => {
      await using opened = await open(chain)
      expect(await opened.engine.payload(1)).toBeUndefined()
      expect(await opened.engine.payload(2 ** 40)).toBeUndefined()
      expect(await opened.engine.payload(hashOf('nobody knows'))).toBeUndefined()
    })
  })
}

const need = <T>(value: T | undefined): T => value ?? expect.fail('missing')

import { describe, expect, it } from 'vitest'
import type { BuildPool } from '#block/building/buildPool'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { headerOfPayload } from '#engine/payloadHeader'
import type { Engine, Heads } from '#engine/port'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { createMemoryKv } from '#store/memoryKv'
import { accountOf, attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { hashHeader } from '#types/header'
import { emptyRoot, parseHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

/** SSTORE(first word of the calldata, second word) */
const storage = testAddress(0x55)
const stored = testAccount(storage, { nonce: 1n, code: '0x6020355f355500' })
/** Numbers of the first block that follows Azul, and of one, as `attributesAt` times them, that no version executes. */
const azulNumber = 3
const berylNumber = 50
const plain = scheduleTo('jovian')
const timeOf = (number: number): number => attributesAt(plain, number).timestamp
export const schedule = { ...plain, azul: timeOf(azulNumber), beryl: timeOf(berylNumber) }
export const chain = smallChain(schedule, [stored, testAccount(accountOf('carol'), { balance: 10n ** 18n })])
const { config } = chain

export type EngineChain = typeof chain
export type OpenEngine = AsyncDisposable & { readonly engine: Engine }

/** An execution half in memory, for adapters and as the maker of payloads. */
export function openExecution({ genesis, config }: EngineChain, pool?: BuildPool): Execution {
  return createExecution({
    ...(pool && { pool }),
    kv: createMemoryKv(),
    evm: createWasmEvm(),
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
/** The payload with other fields and the hash that they give. */
const altered = (payload: Payload, change: Partial<Payload>): Payload => {
  const changed = { ...payload, ...change }
  return { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
}

export async function builtBy(engine: Engine, parent: Heads['unsafe'], attributes: PayloadAttributes): Promise<Payload> {
  const result = await engine.build(parent, attributes)
  if (result.kind === 'invalid') throw new Error(result.reason)
  return result.payload
}

/** Payloads one on another, by an execution of its own: from genesis, or on a parent that `maker` knows. */
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

/** What every adapter of the port `Engine` must do. `open` gives one over a new chain each time. */
export function engineContract(adapter: string, open: (chain: EngineChain) => Promise<OpenEngine>): void {
  describe(`engine/port ${adapter}`, () => {
    it('a new chain has its genesis block under each label', async () => {
      await using opened = await open(chain)
      const { unsafe, safe, finalized } = await opened.engine.heads()
      expect([unsafe, safe, finalized].map(({ hash, number }) => ({ hash, number }))).toEqual(Array(3).fill(config.genesis.l2))
      expect(await opened.engine.payload(0)).toMatchObject({ blockHash: config.genesis.l2.hash, transactions: [] })
      expect(await opened.engine.payload(config.genesis.l2.hash)).toEqual(await opened.engine.payload(0))
    })

    it('build gives the payload that another execution gives, makes it known and leaves safe and finalized', async () => {
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

    it('the same attributes twice, and two at once, give each its payload', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      const [one, other] = [attributesAt(schedule, 1), attributesAt(schedule, 1, [], 1)]
      const [a, b, again] = await Promise.all([one, other, one].map((attributes) => builtBy(engine, unsafe, attributes)))
      expect(a).toEqual(again)
      expect(b?.blockHash).not.toBe(a?.blockHash)
    })

    it('attributes with a transaction that cannot be executed are invalid, and nothing is lost by them', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      for (const bad of [write(7n, 1, 1), Uint8Array.of(2, 0xba, 0xd), Uint8Array.of(0x7d)]) {
        expect(await engine.build(unsafe, attributesAt(schedule, 1, [bad]))).toMatchObject({ kind: 'invalid', reason: expect.any(String) })
      }
      expect((await builtBy(engine, unsafe, attributesAt(schedule, 1))).blockNumber).toBe(1)
    })

    it('insert validates a payload and makes it known; a second time is as good', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const payloads = await made(openExecution(chain), 2, { write: true })
      await insertAll(engine, [...payloads, ...payloads])
      for (const payload of payloads) expect(await engine.payload(payload.blockHash)).toEqual(payload)
      expect((await engine.heads()).unsafe.number).toBe(0)
    })

    it('what is wrong in a payload is invalid with a reason, and the right one is taken afterwards', async () => {
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

    it('a parent that is not known (UNKNOWN_PARENT)', async () => {
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

    it('a fork without rules (UNSUPPORTED_FORK)', async () => {
      await using opened = await open(chain)
      const { engine } = opened
      const { unsafe } = await engine.heads()
      const [payload = expect.fail()] = await made(openExecution(chain), 1)
      const attributes = { ...attributesAt(plain, 1), timestamp: schedule.beryl }
      await expect(engine.build(unsafe, attributes)).rejects.toEqual(fault('UNSUPPORTED_FORK'))
      await expect(engine.insert(altered(payload, { timestamp: schedule.beryl }))).rejects.toEqual(fault('UNSUPPORTED_FORK'))
    })

    it('setHeads makes a branch canonical and labels it, and heads tells so', async () => {
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

    it('labels that come late, with the unsafe head where it is, are applied', async () => {
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

    it('the unsafe head goes back to an ancestor, and blocks are built there', async () => {
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

    it('build on an ancestor of the unsafe head', async () => {
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

    it('a reorg there and back: the numbers are those of the branch, the other branch stays known', async () => {
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

    it.each<[string, (refs: readonly Heads['unsafe'][], side: Heads['unsafe']) => Heads]>([
      [
        'an unsafe head that is not known',
        ([genesis, a]) => ({ unsafe: { ...need(a), hash: hashOf('unknown') }, safe: need(genesis), finalized: need(genesis) }),
      ],
      [
        'a safe head that is not known',
        ([genesis, a]) => ({ unsafe: need(a), safe: { ...need(a), hash: hashOf('unknown') }, finalized: need(genesis) }),
      ],
      ['a safe head above the unsafe one', ([genesis, a, b]) => ({ unsafe: need(a), safe: need(b), finalized: need(genesis) })],
      ['a safe head of another branch', ([genesis, , b], side) => ({ unsafe: need(b), safe: side, finalized: need(genesis) })],
      ['a finalized head above the safe one', ([, a, b]) => ({ unsafe: need(b), safe: need(a), finalized: need(b) })],
      ['an unsafe head below the finalized one', ([genesis]) => ({ unsafe: need(genesis), safe: need(genesis), finalized: need(genesis) })],
      ['a branch without the finalized head', ([genesis], side) => ({ unsafe: side, safe: need(genesis), finalized: need(genesis) })],
    ])('%s is refused, and nothing has moved (INVALID_FORKCHOICE)', async (_what, headsOf) => {
      await using opened = await open(chain)
      const { engine } = opened
      const maker = openExecution(chain)
      const trunk = await made(maker, 2)
      const [side = expect.fail()] = await made(maker, 1, { branch: 4 })
      await insertAll(engine, [...trunk, side])
      const refs = [(await engine.heads()).finalized, ...trunk.map(refOf)]
      const heads = { unsafe: need(refs[2]), safe: need(refs[1]), finalized: need(refs[1]) }
      await engine.setHeads(heads)
      await expect(engine.setHeads(headsOf(refs, refOf(side)))).rejects.toEqual(fault('INVALID_FORKCHOICE'))
      expect(await engine.heads()).toEqual(heads)
    })

    it('storage roots of known blocks: with storage, without, without an account; none of a block that is not known', async () => {
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
      if (ahead !== undefined) expect(ahead).toBe(second) // before the head has moved there, a half elsewhere need not prove it
      expect(new Set([first, second, emptyRoot]).size).toBe(3)
      for (const account of [testAddress(0xfe), testAddress(0xde)]) {
        expect(await engine.storageRoot(account, refOf(at(payloads, 1)))).toBe(emptyRoot)
      }
      const unknown = { number: 2, hash: parseHash(toHex(keccak256(Uint8Array.of(1)))) }
      expect(await engine.storageRoot(storage, unknown)).toBeUndefined()
    })

    it('a block that is not known is undefined, by number and by hash', async () => {
      await using opened = await open(chain)
      expect(await opened.engine.payload(1)).toBeUndefined()
      expect(await opened.engine.payload(2 ** 40)).toBeUndefined()
      expect(await opened.engine.payload(hashOf('nobody knows'))).toBeUndefined()
    })
  })
}

const need = <T>(value: T | undefined): T => value ?? expect.fail('missing')

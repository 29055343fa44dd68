import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { addressOf, callTo, cancun, push, storeIn, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { createWorld } from '#test/vectors/stateTestWorld'
import type { Hash } from '#types/ids'
import type { EvmSession, Message, Outcome, StateView } from './ports.ts'
import { createInstance, type EvmInstance, residentBytes } from './wasm/instance.ts'
import { WasmSession } from './wasm/session.ts'
import { createWasmEvm } from './wasmEvm.ts'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const other = addressOf(0x33)
const mebibyte = 2 ** 20

const slotOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
const viewOf = (code: string, code2 = ''): StateView =>
  createWorld({ [contract]: testAccount({ code: `0x${code}` }), [other]: testAccount({ code: `0x${code2}` }) }).view

/** Returns the same view as a plain object that can be spread. */
const plainly = (view: StateView): StateView => ({
  account: (key) => view.account(key),
  slot: (key, slot) => view.slot(key, slot),
  code: (hash) => view.code(hash),
  blockHash: (number) => view.blockHash(number),
})

const message = (gas: bigint, data: Uint8Array = new Uint8Array(0)): Message => ({ caller: sender, to: contract, value: 0n, data, gas })

/** Runs a code on the instance; `code2` is the code of another account. */
function runOn(instance: EvmInstance, code: string, gas: bigint, code2 = ''): Outcome {
  using session = new WasmSession({ instance, giveBack: () => {} }, viewOf(code, code2), testBlock, cancun)
  session.beginTransaction(testTransaction(sender))
  return session.run(message(gas))
}

it('evm/wasmEvm: residentBytes counts the memory that messages have touched', () => {
  const instance = createInstance(mebibyte, 'plain')
  expect(runOn(instance, '00', 100_000n).kind).toBe('success')
  const idle = residentBytes(instance)
  expect(idle).toBeLessThan(mebibyte)
  expect(runOn(instance, `${push(1)}${push(8 * mebibyte)}5200`, 10n ** 9n).kind).toBe('success')
  expect(residentBytes(instance)).toBeGreaterThan(8 * mebibyte)
  expect(residentBytes(instance)).toBeLessThan(10 * mebibyte)
  // one slot per loop iteration, until the gas is used up
  expect(runOn(instance, `5b5a5450600056`, 20_000_000n).kind).toBe('halt')
  expect(residentBytes(instance)).toBeGreaterThan(9 * mebibyte)
})

it.each([
  ['a slot', '54'],
  ['a balance', '31'],
  ['a code', '3b'],
  ['a call', `${push(0).repeat(5)}85${push(0)}f1`],
])('evm/wasmEvm: a frame that cannot pay for %s that is cold creates no entry for it', (_what, access) => {
  const instance = createInstance(mebibyte, 'plain')
  runOn(instance, '00', 100_000n)
  const before = residentBytes(instance)
  // each iteration calls the other account with its remaining gas, always a new word, as input; that account accesses the address or slot given by the word
  const turn = `5a${push(0)}52${push(0).repeat(2)}${push(32)}${push(0)}${push(0)}${push(other)}${push(80)}f150`
  const outcome = runOn(instance, `5b${turn}${push(0)}56`, 3_000_000n, `${push(0)}35${access}00`)
  expect(outcome.kind).toBe('halt')
  // about 14,000 iterations, of at least 160 bytes each if entries were created
  expect(residentBytes(instance) - before).toBeLessThan(200_000)
})

it('evm/wasmEvm: a message that exceeds a region is a fault, and the next session works normally (EVM_TOO_LARGE)', () => {
  const evm = createWasmEvm()
  const tooLarge = expect.objectContaining({ code: 'EVM_TOO_LARGE' })
  {
    using session = evm.open(viewOf(`${push(0x8000000)}${push(0)}a000`), testBlock, cancun)
    session.beginTransaction(testTransaction(sender))
    expect(() => session.run(message(2n ** 62n))).toThrowError(tooLarge)
  }
  {
    using session = evm.open(viewOf('00'), testBlock, cancun)
    expect(() => session.run(message(2n ** 62n, new Uint8Array(65 * mebibyte)))).toThrowError(tooLarge)
  }
  using session = evm.open(viewOf(`${push(7)}${storeIn(1)}${callTo(sender)}00`), testBlock, cancun)
  session.beginTransaction(testTransaction(sender))
  expect(session.run(message(1_000_000n, fromHex('0x01'))).kind).toBe('success')
  expect(session.slot(contract, slotOf(1))).toBe(7n)
})

it.each([
  ['wasm', createWasmEvm()],
  ['reference', createReferenceEvm()],
])('evm: %s: the default interrupt check of a session applies to messages without their own', (_name, evm) => {
  const paced: string[] = []
  // a loop until the gas is used up
  using session = evm.open(viewOf(`5b${push(0)}56`), testBlock, cancun, () => void paced.push('usual'))
  for (const own of [undefined, (): void => void paced.push('own')]) {
    session.beginTransaction(testTransaction(sender))
    session.run(message(3_000_000n), own)
    session.endTransaction()
  }
  expect(new Set(paced)).toEqual(new Set(['usual', 'own']))
  expect(paced.indexOf('own')).toBe(paced.lastIndexOf('usual') + 1)
})

it("evm/wasmEvm: sessions on one view see their own block and the view's hashes of earlier blocks", () => {
  const evm = createWasmEvm()
  // time, beneficiary and hash of block 998, in slots 1 to 3
  const view = viewOf(`42${storeIn(1)}41${storeIn(2)}${push(998)}40${storeIn(3)}00`)
  const seen = (block: typeof testBlock, on: StateView): readonly bigint[] => {
    using session = evm.open(on, block, cancun)
    session.beginTransaction(testTransaction(sender))
    expect(session.run(message(1_000_000n)).kind).toBe('success')
    return [1, 2, 3].map((number) => session.slot(contract, slotOf(number)))
  }
  const hashIn = (number: bigint): StateView => ({ ...plainly(view), blockHash: () => slotOf(Number(number)) })
  const first = hashIn(7n)
  const later = { ...testBlock, number: 1_001, timestamp: testBlock.timestamp + 2, beneficiary: other }
  const [time, beneficiary] = [BigInt(testBlock.timestamp), BigInt(testBlock.beneficiary)]
  expect(seen(testBlock, first)).toEqual([time, beneficiary, 7n])
  expect(seen(later, first)).toEqual([time + 2n, BigInt(other), 7n])
  expect(seen({ ...testBlock }, first)).toEqual([time, beneficiary, 7n])
  expect(seen(testBlock, hashIn(8n))).toEqual([time, beneficiary, 8n])
})

it('evm/wasmEvm: counts the codes that sessions found translated, and those that they loaded, once for each account of a session', () => {
  const evm = createWasmEvm({ codeBytes: mebibyte })
  // calls the other account twice
  const call = `${push(0).repeat(5)}${push(other)}5af150`
  const runTwice = (session: EvmSession): void => {
    for (let i = 0; i < 2; i++) {
      session.beginTransaction(testTransaction(sender))
      expect(session.run(message(1_000_000n)).kind).toBe('success')
      session.endTransaction()
    }
  }
  const reads = (view: StateView) => {
    const before = evm.facts()
    {
      using session = evm.open(view, testBlock, cancun)
      runTwice(session)
    }
    const { hits, misses } = evm.facts()
    return { hits: hits - before.hits, misses: misses - before.misses }
  }
  expect(evm.facts()).toEqual({ sizeBytes: 0, maxBytes: mebibyte, hits: 0, misses: 0 })
  expect(reads(viewOf(`${call}${call}00`, '00'))).toEqual({ hits: 0, misses: 2 })
  const { sizeBytes } = evm.facts()
  expect(sizeBytes).toBeGreaterThan(100)
  expect(reads(viewOf(`${call}${call}00`, '00'))).toEqual({ hits: 2, misses: 0 })
  expect(evm.facts().sizeBytes).toBe(sizeBytes)
  expect(reads(viewOf(`${call}${call}00`, '5000'))).toEqual({ hits: 1, misses: 1 })
  expect(evm.facts().sizeBytes).toBeGreaterThan(sizeBytes)
})

it('evm/wasmEvm: a disposed session rejects all calls', () => {
  const session = createWasmEvm().open(viewOf('00'), testBlock, cancun)
  session.addBalance(sender, 1n)
  session[Symbol.dispose]()
  expect(() => session.account(sender)).toThrowError(RangeError)
  expect(() => session.run(message(1n))).toThrowError(RangeError)
  expect(() => session.diff()).toThrowError(RangeError)
  expect(() => session.checkpoint()).toThrowError(RangeError)
})

it('evm/wasmEvm: rejects wei, nonces and blob hashes that do not fit', () => {
  using session = createWasmEvm().open(viewOf('00'), testBlock, cancun)
  expect(() => session.addBalance(sender, 2n ** 256n)).toThrowError(RangeError)
  expect(() => session.addBalance(sender, -1n)).toThrowError(RangeError)
  expect(() => session.setNonce(sender, 2n ** 64n)).toThrowError(RangeError)
  const blobHashes = new Array<Hash>(1_000).fill(slotOf(1))
  expect(() => session.beginTransaction({ ...testTransaction(sender), blobHashes })).toThrowError(RangeError)
  expect(session.account(sender)).toBeUndefined()
})

import { getContractAddress } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import type { Evm, EvmSession, Message, Outcome } from '#evm/ports'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import {
  addressOf,
  callTo,
  cancun,
  osaka,
  paris,
  prague,
  push,
  storeIn,
  testAccount,
  testBlock,
  testTransaction,
} from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const other = addressOf(0x33)

const slotOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
const keyOf = (address: Address): Uint8Array => keccak256(fromHex(address))

function runOnce(session: EvmSession, message: Partial<Message>): Outcome {
  session.beginTransaction(testTransaction(sender))
  const outcome = session.run({ caller: sender, to: contract, value: 0n, data: new Uint8Array(0), gas: 1_000_000n, ...message })
  session.endTransaction()
  return outcome
}

/** Tests of calls and creations that every interpreter must pass. */
export function evmMessagesContract(name: string, evm: Evm): void {
  function sessionOf(pre: Record<Address, Parameters<typeof testAccount>[0]>, rules = cancun): EvmSession {
    const world = Object.entries(pre).map(([address, parts]) => [address, testAccount(parts)] as const)
    const session = evm.open(createWorld(Object.fromEntries(world)).view, testBlock, rules)
    onTestFinished(() => session[Symbol.dispose]())
    return session
  }

  it(`evm ${name}: returns the keys that it has read with their preimages, and the accounts whose code it knows from an earlier session, too`, () => {
    const [third, extcodesize, balance, sload] = [addressOf(0x44), '3b', '31', '54']
    const code = `0x${push(other)}${extcodesize}${push(third)}${balance}${push(7)}${sload}`
    const pre = {
      ...{ [sender]: { balance: '0x5' }, [contract]: { code, storage: { [slotOf(7)]: '0x1' } } },
      ...{ [other]: { code: '0x5b00' }, [third]: { code: '0x5b01' } },
    }
    for (const session of [sessionOf(pre), sessionOf(pre)]) {
      runOnce(session, {})
      const { accounts, slots } = session.readKeys()
      for (const { key, preimage } of [...accounts, ...slots]) expect(key).toEqual(keccak256(preimage))
      const read = accounts.map(({ preimage, isCoded }) => `${toHex(preimage)} ${isCoded}`)
      expect(read.sort()).toEqual([`${sender} false`, `${contract} true`, `${other} true`, `${third} false`])
      expect(slots.map(({ preimage }) => toHex(preimage))).toEqual([slotOf(7)])
    }
  })

  /** Code that stores the number of leading zeros of the first input word. */
  const countsZeros = `0x${push(0)}351e${storeIn(0)}00`

  it.each([
    ['zero', 0n, 256n],
    ['one', 1n, 255n],
    ['the lowest bit of the second byte', 1n << 8n, 247n],
    ['the top bit', 1n << 255n, 0n],
    ['all bits', 2n ** 256n - 1n, 0n],
    ['all but the top bit', 2n ** 255n - 1n, 1n],
  ])(`evm ${name}: CLZ counts the leading zeros of %s, for 5 gas (EIP-7939)`, (_what, word, zeros) => {
    const session = sessionOf({ [contract]: { code: countsZeros } }, osaka)
    const outcome = runOnce(session, { data: fromHex(`0x${word.toString(16).padStart(64, '0')}`), gas: 100_000n })
    expect(session.slot(contract, slotOf(0))).toBe(zeros)
    const store = zeros === 0n ? 2_200n : 22_100n
    expect(100_000n - outcome.gasLeft).toBe(3n + 3n + 5n + 3n + store)
  })

  it(`evm ${name}: CLZ is not an opcode before Osaka, and requires one word`, () => {
    const before = sessionOf({ [contract]: { code: countsZeros } }, prague)
    expect(runOnce(before, {})).toMatchObject({ kind: 'halt', gasLeft: 0n })
    const empty = sessionOf({ [contract]: { code: '0x1e00' } }, osaka)
    expect(runOnce(empty, {})).toMatchObject({ kind: 'halt' })
  })

  it(`evm ${name}: limits calls to a depth of 1,024, without using the stack of JavaScript`, () => {
    // slot 0 counts the frames; each frame calls itself with all gas
    const code = `0x${push(0)}5460010180${storeIn(0)}${callTo(contract)}00`
    const session = sessionOf({ [sender]: { balance: '0x1' }, [contract]: { code } })
    expect(runOnce(session, { gas: 2n ** 62n }).kind).toBe('success')
    expect(session.slot(contract, slotOf(0))).toBe(1_025n)
  })

  it(`evm ${name}: computes gas above 2^53 exactly`, () => {
    const session = sessionOf({ [contract]: { code: `0x5a${storeIn(0)}5a${storeIn(1)}00` } })
    const gas = 2n ** 63n + 12_345_678_901n
    const outcome = runOnce(session, { gas })
    expect(session.slot(contract, slotOf(0))).toBe(gas - 2n)
    expect(session.slot(contract, slotOf(1))).toBe(gas - 2n - 3n - 22_100n - 2n)
    expect(outcome.gasLeft).toBe(gas - 2n * (2n + 3n + 22_100n))
  })

  it(`evm ${name}: reverts the changes of a message and keeps earlier ones`, () => {
    const code = `0x${push(7)}${storeIn(0)}${push(0)}${push(0)}fd`
    const session = sessionOf({ [sender]: { balance: '0x64' }, [contract]: { code } })
    session.beginTransaction(testTransaction(sender))
    session.setNonce(sender, 1n)
    const outcome = session.run({ caller: sender, to: contract, value: 5n, data: new Uint8Array(0), gas: 100_000n })
    session.endTransaction()
    expect(outcome).toMatchObject({ kind: 'revert', gasRefund: 0n })
    expect(session.account(sender)).toMatchObject({ nonce: 1n, balance: 100n })
    expect([...session.diff().accounts()].map(({ key }) => toHex(key))).toEqual([toHex(keyOf(sender))])
    expect([...session.diff().slots()]).toEqual([])
  })

  it(`evm ${name}: passes on an error of the view`, () => {
    const view = createWorld({ [contract]: testAccount({ code: '0x00' }) }).view
    using session = evm.open({ ...view, code: () => { throw new Error('no code here') } }, testBlock, cancun) // biome-ignore format: one line
    expect(() => runOnce(session, {})).toThrowError('no code here')
  })

  it(`evm ${name}: omits a slot and an account from the diff when the value is the view’s again`, () => {
    const session = sessionOf({ [contract]: { code: `0x6000356000${'55'}00`, storage: { '0x0': '0x5' } } })
    const word = (value: number): Uint8Array => fromHex(slotOf(value))
    runOnce(session, { data: word(9) })
    expect([...session.diff().slots()].map(({ value }) => toHex(value))).toEqual([slotOf(9)])
    runOnce(session, { data: word(5) })
    expect([...session.diff().slots()]).toEqual([])
    expect([...session.diff().accounts()]).toEqual([])
  })

  it(`evm ${name}: creates a contract: raises the creator’s nonce, stores the code, returns the address`, () => {
    const session = sessionOf({ [sender]: { nonce: '0x3' } })
    // returns one byte of memory: 0x00
    const outcome = runOnce(session, { to: null, data: fromHex(`0x${push(1)}${push(0)}f3`) })
    const created = getContractAddress({ from: sender, nonce: 3n }).toLowerCase() as Address
    expect(outcome).toMatchObject({ kind: 'success', created })
    expect(session.account(sender)?.nonce).toBe(4n)
    expect(session.account(created)?.nonce).toBe(1n)
    expect(session.code(created)).toEqual(Uint8Array.of(0))
  })

  it(`evm ${name}: deletes a self-destructed contract and its slots before Cancun, even if it is created again in the same block`, () => {
    const session = sessionOf(
      { [sender]: { balance: '0x64' }, [contract]: { balance: '0x1', code: `0x${push(other)}ff`, storage: { '0x1': '0x2' } } },
      paris,
    )
    runOnce(session, {})
    expect(session.account(contract)).toBeUndefined()
    expect(session.slot(contract, slotOf(1))).toBe(0n)
    expect(session.account(other)?.balance).toBe(1n)
    const gone = session.diff()
    expect(gone.account(keyOf(contract))).toBeNull()
    expect(gone.isWiped(keyOf(contract))).toBe(true)
    runOnce(session, { value: 1n })
    const back = session.diff()
    expect(back.account(keyOf(contract))).toEqual({ nonce: 0n, balance: 1n, codeHash: emptyCodeHash })
    expect(back.isWiped(keyOf(contract))).toBe(true)
  })

  it(`evm ${name}: only transfers the balance in SELFDESTRUCT of a contract of an earlier transaction, from Cancun on`, () => {
    const session = sessionOf({ [contract]: { balance: '0x9', code: `0x${push(other)}ff`, storage: { '0x1': '0x2' } } })
    runOnce(session, {})
    expect(session.account(contract)?.balance).toBe(0n)
    expect(session.slot(contract, slotOf(1))).toBe(2n)
    expect(session.diff().isWiped(keyOf(contract))).toBe(false)
  })

  it(`evm ${name}: deletes touched empty accounts and keeps untouched ones`, () => {
    const session = sessionOf({ [contract]: { code: `0x${callTo(other)}00` }, [other]: {}, [addressOf(0x44)]: {} })
    runOnce(session, {})
    expect(session.diff().account(keyOf(other))).toBeNull()
    expect(session.diff().account(keyOf(addressOf(0x44)))).toBeUndefined()
  })

  it(`evm ${name}: clears transient storage and warm slots at the end of a transaction`, () => {
    // slot 0 := tload(0), slot 1 := gas of an sload, tstore(0, 1)
    const code = `0x${push(0)}5c${storeIn(0)}5a${push(5)}54505a9003${storeIn(1)}${push(1)}${push(0)}5d00`
    const session = sessionOf({ [contract]: { code } })
    runOnce(session, {})
    const first = session.slot(contract, slotOf(1))
    runOnce(session, {})
    expect(session.slot(contract, slotOf(0))).toBe(0n)
    expect(session.slot(contract, slotOf(1))).toBe(first)
    expect(first).toBe(2_100n + 3n + 2n + 2n)
  })

  it(`evm ${name}: runs a delegate’s code on the delegated account’s storage; its own code is still the designator`, () => {
    const delegated = { code: `0xef0100${other.slice(2)}`, balance: '0x1' }
    // slot 0 := EXTCODESIZE of this account
    const session = sessionOf({ [contract]: delegated, [other]: { code: `0x303b${storeIn(0)}00` } }, prague)
    expect(runOnce(session, {}).kind).toBe('success')
    expect(session.slot(contract, slotOf(0))).toBe(23n)
    expect(session.slot(other, slotOf(0))).toBe(0n)
  })

  it(`evm ${name}: halts on a designator before Prague`, () => {
    const session = sessionOf({ [contract]: { code: `0xef0100${other.slice(2)}` }, [other]: { code: '0x00' } })
    expect(runOnce(session, {})).toMatchObject({ kind: 'halt', gasLeft: 0n })
  })

  it(`evm ${name}: charges both accounts for a call of a delegated account`, () => {
    const gasOfCall = (to: Address, rules = prague): bigint => {
      const code = `0x5a${callTo(to)}505a9003${storeIn(0)}00`
      const session = sessionOf(
        { [contract]: { code }, [other]: { code: `0xef0100${sender.slice(2)}` }, [addressOf(0x44)]: { code: '0x00' } },
        rules,
      )
      runOnce(session, {})
      return session.slot(contract, slotOf(0))
    }
    // the delegate is the sender, which is warm
    expect(gasOfCall(other) - gasOfCall(addressOf(0x44))).toBe(100n)
  })

  const designator = (to: Address): { code: string } => ({ code: `0xef0100${to.slice(2)}` })
  const identity = `0x${'04'.padStart(40, '0')}` as Address
  const third = addressOf(0x44)
  const fourth = addressOf(0x55)
  /** Stores RETURNDATASIZE in a slot. */
  const answerSize = (slot: number): string => `3d${storeIn(slot)}`
  /** CALL with one word of input and all gas. */
  const callWithInput = (to: Address): string => `${push(0).repeat(2)}${push(32)}${push(0)}${push(0)}${push(to)}5af1`

  it.each<[string, Record<Address, { code: string }>, bigint]>([
    ['to a precompile runs no code and succeeds', { [other]: designator(identity) }, 1n],
    ['to an absent account runs no code and succeeds', { [other]: designator(fourth) }, 1n],
    ['to the account itself runs the designator, which halts', { [other]: designator(other) }, 0n],
    ['to another delegation is followed once', { [other]: designator(third), [third]: designator(fourth), [fourth]: { code: '0x00' } }, 0n],
  ])(`evm ${name}: a delegation %s (EIP-7702)`, (_what, accounts, flag) => {
    const code = `0x${callWithInput(other)}${storeIn(0)}${answerSize(1)}00`
    const session = sessionOf({ [contract]: { code }, ...accounts }, prague)
    expect(runOnce(session, {}).kind).toBe('success')
    expect([session.slot(contract, slotOf(0)), session.slot(contract, slotOf(1))]).toEqual([flag, 0n])
    const direct = runOnce(session, { to: other, data: new Uint8Array(32) })
    expect(direct).toMatchObject({ kind: flag === 1n ? 'success' : 'halt', output: new Uint8Array(0) })
  })

  it(`evm ${name}: charges 2,600 gas to call a cold delegate, and none to read the delegated account’s code (EIP-7702)`, () => {
    /** Stores the gas of the operations in a slot. */
    const priceOf = (operations: string, slot: number): string => `5a${operations}505a9003${storeIn(slot)}`
    const look = `${push(other)}3b`
    const pushes = 7n * 3n
    const code = `0x${priceOf(look, 0)}${priceOf(callTo(other), 1)}${priceOf(callTo(other), 2)}00`
    const session = sessionOf({ [contract]: { code }, [other]: designator(third), [third]: { code: '0x00' } }, prague)
    runOnce(session, {})
    const [looked, first, second] = [0, 1, 2].map((slot) => session.slot(contract, slotOf(slot)) - 4n)
    expect(looked).toBe(2_600n + 3n)
    expect([first, second]).toEqual([100n + 2_600n + pushes - 1n, 100n + 100n + pushes - 1n])
  })

  it(`evm ${name}: creates nothing for a creator with the highest nonce, and charges only the price of the opcode`, () => {
    const code = `0x${push(0).repeat(3)}f0${storeIn(0)}3d${storeIn(1)}00`
    const session = sessionOf({ [contract]: { code, nonce: '0xffffffffffffffff', storage: { '0x0': '0x1' } } })
    expect(runOnce(session, { gas: 100_000n })).toMatchObject({
      kind: 'success',
      gasLeft: 100_000n - 32_000n - 9n - 3n - 5_000n - 2n - 3n - 2_200n,
    })
    expect(session.slot(contract, slotOf(0))).toBe(0n)
    expect(session.account(contract)?.nonce).toBe(2n ** 64n - 1n)
  })

  it(`evm ${name}: returns the value of a call to a failing precompile, but not its gas`, () => {
    const pairing = `0x${'08'.padStart(40, '0')}` as Address
    const code = `0x${push(0).repeat(2)}${push(1)}${push(0)}${push(3)}${push(pairing)}${push(60_000)}f1${storeIn(0)}00`
    const session = sessionOf({ [contract]: { code, balance: '0x5', storage: { '0x0': '0x1' } } })
    const outcome = runOnce(session, { gas: 200_000n })
    expect(outcome.kind).toBe('success')
    expect([session.slot(contract, slotOf(0)), session.account(contract)?.balance, session.account(pairing)]).toEqual([0n, 5n, undefined])
    expect(outcome.gasLeft).toBeLessThan(200_000n - 62_300n - 9_000n - 25_000n + 2_300n)
  })

  it(`evm ${name}: burns the wei of a contract that self-destructs to itself in the transaction of its creation only (EIP-6780)`, () => {
    const session = sessionOf({ [sender]: { balance: '0x9' }, [contract]: { code: '0x30ff', balance: '0x5' } })
    runOnce(session, {})
    expect(session.account(contract)).toMatchObject({ balance: 5n })
    const outcome = runOnce(session, { to: null, value: 4n, data: fromHex('0x30ff') })
    expect(outcome.kind).toBe('success')
    expect(session.account(sender)?.balance).toBe(5n)
    expect(outcome.kind === 'success' && outcome.created && session.account(outcome.created)).toBeUndefined()
  })

  it(`evm ${name}: halts a message without enough balance before it begins`, () => {
    const session = sessionOf({ [sender]: { balance: '0x1' } })
    expect(runOnce(session, { value: 2n })).toMatchObject({ kind: 'halt' })
    expect(runOnce(session, { value: 2n, to: null })).toMatchObject({ kind: 'halt' })
    expect(session.account(sender)?.nonce).toBe(0n)
  })
}

import { expect, it, onTestFinished } from 'vitest'
import type { EvmRules } from '#chainspec/evmRules'
import { type Evm, type EvmSession, type Message, MissingState, type Outcome, type StateView, type WantedState } from '#evm/ports'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { addressOf, callTo, cancun, paris, prague, push, storeIn, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const other = addressOf(0x33)
const third = addressOf(0x44)
const maxWord = 2n ** 256n - 1n

const slotOf = (number: number | bigint): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
const keyOf = (address: Address): Uint8Array => keccak256(fromHex(address))
const viewOf = (pre: Record<Address, Parameters<typeof testAccount>[0]>): StateView =>
  createWorld(Object.fromEntries(Object.entries(pre).map(([address, parts]) => [address, testAccount(parts)]))).view

const message = (parts: Partial<Message> = {}): Message => ({
  ...{ caller: sender, to: contract, value: 0n, data: new Uint8Array(0), gas: 10_000_000n },
  ...parts,
})

function runOnce(session: EvmSession, parts: Partial<Message> = {}): Outcome {
  session.beginTransaction(testTransaction(sender))
  const outcome = session.run(message(parts))
  session.endTransaction()
  return outcome
}

/** Balance changes by account; the same accounts must be in `changed`. */
const changes = (session: EvmSession): string[] => {
  const diff = session.diff()
  const keys = new Set([...diff.accounts()].map(({ key }) => toHex(key)))
  for (const { addressKey } of diff.slots()) keys.add(toHex(addressKey))
  expect(
    session
      .changed()
      .map((address) => toHex(keyOf(address)))
      .sort(),
  ).toEqual([...keys].sort())
  const accounts = [...diff.accounts()].map(({ key, change }) => `${toHex(key)} ${change ? `${change.nonce} ${change.balance}` : 'gone'}`)
  return [...accounts, ...[...diff.slots()].map(({ slotKey, value }) => `${toHex(slotKey)} ${toHex(value)}`)]
}

/** View that throws MissingState at the first read of each item; `asked` lists the kinds. */
function missingAtFirst(view: StateView): { readonly view: StateView; readonly asked: WantedState['kind'][] } {
  const seen = new Set<string>()
  const asked: WantedState['kind'][] = []
  const once = (name: string, wanted: WantedState): void => {
    if (seen.has(name)) return
    seen.add(name)
    asked.push(wanted.kind)
    throw new MissingState(wanted)
  }
  return {
    asked,
    view: {
      account(addressKey): ReturnType<StateView['account']> {
        once(toHex(addressKey), { kind: 'account', addressKey })
        return view.account(addressKey)
      },
      slot(addressKey, slotKey): ReturnType<StateView['slot']> {
        once(`${toHex(addressKey)} ${toHex(slotKey)}`, { kind: 'slot', addressKey, slotKey })
        return view.slot(addressKey, slotKey)
      },
      code(codeHash): Uint8Array {
        once(codeHash, { kind: 'code', codeHash })
        return view.code(codeHash)
      },
      blockHash(number): Hash | undefined {
        once(`${number}`, { kind: 'blockHash', number })
        return view.blockHash(number)
      },
    },
  }
}

/** Repeats a call until no state is missing. */
function untilPresent<T>(ask: () => T, again: () => T = ask): T {
  let next = ask
  for (;;) {
    try {
      return next()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      next = again
    }
  }
}

/** Tests of sessions that every interpreter must pass. */
export function evmSessionContract(name: string, create: () => Evm): void {
  const evm = create()

  function sessionOf(pre: Record<Address, Parameters<typeof testAccount>[0]>, rules: EvmRules = cancun): EvmSession {
    const session = evm.open(viewOf(pre), testBlock, rules)
    onTestFinished(() => session[Symbol.dispose]())
    return session
  }

  it(`evm ${name}: adds and subtracts balances of any size exactly`, () => {
    const session = sessionOf({ [other]: { balance: '0x5', nonce: '0x1' } })
    for (const wei of [1n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n + 7n, 2n ** 200n, maxWord - 5n]) {
      session.addBalance(other, wei)
      expect(session.account(other)?.balance).toBe(5n + wei)
      expect(() => session.subtractBalance(other, 6n + wei)).toThrowError(RangeError)
      session.subtractBalance(other, wei)
    }
    expect(session.account(other)).toEqual({ nonce: 1n, balance: 5n, codeHash: emptyCodeHash, storageRoot: emptyRoot })
    expect(() => session.subtractBalance(third, 1n)).toThrowError(RangeError)
    expect(changes(session)).toEqual([])
  })

  it(`evm ${name}: reads undefined for an absent account; it exists after it receives wei, not after it receives zero wei`, () => {
    const session = sessionOf({})
    expect(session.account(other)).toBeUndefined()
    session.addBalance(other, 1n)
    session.addBalance(third, 0n)
    expect(session.account(third)).toMatchObject({ nonce: 0n, balance: 0n })
    session.endTransaction()
    expect(session.account(third)).toBeUndefined()
    expect([...session.diff().accounts()].map(({ key }) => toHex(key))).toEqual([toHex(keyOf(other))])
  })

  it(`evm ${name}: deletes an empty account of the view that receives zero wei`, () => {
    const session = sessionOf({ [other]: {}, [third]: {} })
    session.addBalance(other, 0n)
    session.endTransaction()
    expect(session.diff().account(keyOf(other))).toBeNull()
    expect(session.diff().account(keyOf(third))).toBeUndefined()
  })

  it(`evm ${name}: sets and changes 64-bit nonces and code, with both in the diff`, () => {
    const session = sessionOf({ [other]: { code: '0x6001' } })
    session.setNonce(other, 2n ** 64n - 1n)
    session.setCode(other, Uint8Array.of(0x60, 2))
    session.setCode(third, Uint8Array.of(0x60, 3))
    expect(session.account(other)?.nonce).toBe(2n ** 64n - 1n)
    expect([session.code(other), session.code(third), session.code(sender)].map(toHex)).toEqual(['0x6002', '0x6003', '0x'])
    session.setCode(third, new Uint8Array(0))
    session.endTransaction()
    expect(session.account(third)).toBeUndefined()
    const diff = session.diff()
    expect(diff.account(keyOf(other))).toMatchObject({ nonce: 2n ** 64n - 1n, codeHash: hashFromBytes(keccak256(Uint8Array.of(0x60, 2))) })
    expect([...diff.codes()].map(({ code }) => toHex(code))).toEqual(['0x6002'])
    session.setCode(other, Uint8Array.of(0x60, 1))
    session.setNonce(other, 0n)
    expect(changes(session)).toEqual([])
  })

  it(`evm ${name}: runs code that was set`, () => {
    const session = sessionOf({})
    session.setCode(contract, fromHex(`0x${push(7)}${storeIn(1)}00`))
    expect(runOnce(session).kind).toBe('success')
    expect(session.slot(contract, slotOf(1))).toBe(7n)
    session.setCode(contract, fromHex(`0x${push(8)}${storeIn(1)}00`))
    expect(runOnce(session).kind).toBe('success')
    expect(session.slot(contract, slotOf(1))).toBe(8n)
  })

  it(`evm ${name}: reverts nested checkpoints to their state`, () => {
    const session = sessionOf({ [contract]: { code: `0x${push(7)}${storeIn(1)}${callTo(other, 2)}00`, balance: '0x9' } })
    session.addBalance(other, 1n)
    const outer = session.checkpoint()
    session.setNonce(other, 5n)
    const inner = session.checkpoint()
    expect(session.run(message()).kind).toBe('success')
    expect([session.account(other)?.balance, session.slot(contract, slotOf(1))]).toEqual([3n, 7n])
    session.revertTo(inner)
    expect([session.account(other)?.balance, session.slot(contract, slotOf(1))]).toEqual([1n, 0n])
    expect(session.account(other)?.nonce).toBe(5n)
    session.revertTo(outer)
    expect(session.account(other)).toMatchObject({ nonce: 0n, balance: 1n })
    session.endTransaction()
    expect(changes(session)).toHaveLength(1)
  })

  it(`evm ${name}: warms the entries of the access list for their transaction only, with their values`, () => {
    const code = `0x5a${push(2)}54${storeIn(0)}5a9003${storeIn(1)}5a${push(other)}31505a9003${storeIn(3)}00`
    const named = [
      { address: contract, slots: [slotOf(2)] },
      { address: other, slots: [] },
    ]
    const [inList, notInList, later] = [named, [], named].map((warm, i) => {
      const session = sessionOf({ [contract]: { code, storage: { '0x2': '0x9' } } })
      session.beginTransaction({ ...testTransaction(sender), warm })
      if (i === 2) session.endTransaction()
      expect(session.run(message()).kind).toBe('success')
      return [0, 1, 3].map((slot) => session.slot(contract, slotOf(slot)))
    }) as [bigint[], bigint[], bigint[]]
    expect(inList[0]).toBe(9n)
    expect((notInList[1] ?? 0n) - (inList[1] ?? 0n)).toBe(2_000n)
    expect((notInList[2] ?? 0n) - (inList[2] ?? 0n)).toBe(2_500n)
    expect(later).toEqual(notInList)
  })

  it.each<[string, EvmRules, bigint]>([
    ['Paris', paris, 2_600n],
    ['Cancun', cancun, 100n],
  ])(
    `evm ${name}: the beneficiary is cold or warm by the rules of %s (EIP-3651), sender and precompiles are warm`,
    (_fork, rules, cost) => {
      const price = (of: Address, slot: number): string => `5a${push(of)}31505a9003${storeIn(slot)}`
      const code = `0x${price(testBlock.beneficiary, 0)}${price(sender, 1)}${price(`0x${'09'.padStart(40, '0')}` as Address, 2)}00`
      const session = sessionOf({ [contract]: { code } }, rules)
      runOnce(session)
      expect([0, 1, 2].map((slot) => session.slot(contract, slotOf(slot)) - 7n)).toEqual([cost, 100n, 100n])
    },
  )

  const everything = {
    [sender]: { balance: '0x9' },
    // slot 1 := slot 2 + balance of other + block hash of the parent; a delegated account is called; a call reverts; a contract is created
    [contract]: {
      code: `0x${push(2)}54${push(other)}3101${push(testBlock.number - 1)}4001${storeIn(1)}${callTo(third)}50${callTo(other)}${storeIn(5)}${push(0).repeat(3)}f0${storeIn(6)}00`,
      storage: { '0x2': '0x5' },
    },
    [other]: { balance: '0x7', code: `0x${push(1)}${storeIn(3)}${push(0)}${push(0)}fd` },
    [third]: { code: `0xef0100${addressOf(0x55).slice(2)}` },
    [addressOf(0x55)]: { code: `0x${push(4)}54${storeIn(4)}00`, storage: { '0x4': '0x1' } },
  }

  it(`evm ${name}: resumes a message after each missing item of the view (MissingState)`, () => {
    const plain = sessionOf(everything, prague)
    const expected = runOnce(plain, { value: 1n })
    const { view, asked } = missingAtFirst(viewOf(everything))
    using session = create().open(view, testBlock, prague)
    untilPresent(() => session.beginTransaction(testTransaction(sender)))
    const outcome = untilPresent(
      () => session.run(message({ value: 1n })),
      () => session.resume(),
    )
    session.endTransaction()
    expect(outcome).toEqual(expected)
    expect(outcome.kind).toBe('success')
    expect(new Uint8Array(untilPresent(() => session.diff()).bytes)).toEqual(new Uint8Array(plain.diff().bytes))
    expect(new Set(asked)).toEqual(new Set(['account', 'slot', 'code', 'blockHash']))
    expect(() => session.resume()).toThrowError(RangeError)
  })

  it(`evm ${name}: accepts each call of a session again after MissingState`, () => {
    const { view } = missingAtFirst(viewOf(everything))
    using session = evm.open(view, testBlock, cancun)
    expect(() => session.slot(contract, slotOf(2))).toThrowError(MissingState)
    expect(() => session.slot(contract, slotOf(2))).toThrowError(MissingState)
    expect(session.slot(contract, slotOf(2))).toBe(5n)
    expect(() => session.account(sender)).toThrowError(MissingState)
    expect(session.account(sender)?.balance).toBe(9n)
    expect(() => session.addBalance(other, 1n)).toThrowError(MissingState)
    session.addBalance(other, 1n)
    expect(session.account(other)?.balance).toBe(8n)
    expect(() => session.code(other)).toThrowError(MissingState)
    expect(session.code(other)).toHaveLength(10)
  })

  it.each(['account', 'slot', 'code', 'blockHash'] as const)(`evm ${name}: passes on a fault of the view at %s unchanged`, (method) => {
    const fault = new Error('no')
    const view: StateView = { ...viewOf(everything), [method]: () => { throw fault } } // biome-ignore format: one line
    using session = create().open(view, testBlock, prague)
    let thrown: unknown
    try {
      runOnce(session)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBe(fault)
  })

  const endless = '0x5b600056'

  it(`evm ${name}: calls the interrupt check at least every million gas, and ends the message when it throws`, () => {
    const session = sessionOf({ [contract]: { code: endless } })
    const late = new Error('late')
    const pieces: number[] = []
    const interruptCheck = (gas: number): void => {
      pieces.push(gas)
      if (pieces.length === 20) throw late
    }
    let thrown: unknown
    try {
      session.run(message({ gas: 2n ** 63n }), interruptCheck)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBe(late)
    // pieces without gas cost, such as the loading of code, report zero
    expect(Math.min(...pieces)).toBeGreaterThanOrEqual(0)
    expect(pieces.filter((gas) => gas > 0).length).toBeGreaterThan(15)
    expect(Math.max(...pieces)).toBeLessThanOrEqual(1_000_000)
  })

  it(`evm ${name}: calls the interrupt check with a precompile's gas before it runs`, () => {
    const modexp = `0x${'05'.padStart(40, '0')}` as Address
    const session = sessionOf({})
    const word = (value: number): string => value.toString(16).padStart(64, '0')
    const data = fromHex(`0x${word(200)}${word(32)}${word(200)}${'ff'.repeat(432)}`)
    const pieces: number[] = []
    const outcome = session.run(message({ to: modexp, data }), (gas) => pieces.push(gas))
    expect(outcome.kind).toBe('success')
    expect(pieces).toContain(Number(10_000_000n - outcome.gasLeft))
  })

  it.each([
    ['a price above the gas left', 2, 59n, 'out of gas'],
    ['input that is not on the curve', 6, 1_000n, 'precompile failure'],
  ] as const)(`evm ${name}: reports the reason of a precompile that fails by %s`, (_why, number, gas, reason) => {
    const to = `0x${number.toString(16).padStart(40, '0')}` as Address
    expect(sessionOf({}).run(message({ to, data: new Uint8Array(64).fill(1), gas }))).toMatchObject({ kind: 'halt', reason, gasLeft: 0n })
  })

  it(`evm ${name}: keeps nothing of an earlier session that ended in the middle of a message`, () => {
    const code = `0x${push(3)}${push(0)}5d${push(7)}${storeIn(1)}${push(0)}${push(0)}a0${push(other)}3150${callTo(third)}00`
    const pre = { [contract]: { code, balance: '0x9' }, [sender]: { balance: '0x64' } }
    const missing: StateView = {
      ...viewOf(pre),
      account(key): ReturnType<StateView['account']> {
        if (toHex(key) === toHex(keyOf(third))) throw new MissingState({ kind: 'account', addressKey: key })
        return viewOf(pre).account(key)
      },
    }
    const before = evm.open(missing, testBlock, cancun)
    before.addBalance(addressOf(0x66), 5n)
    before.beginTransaction({ ...testTransaction(sender), warm: [{ address: contract, slots: [slotOf(1)] }] })
    expect(() => before.run(message({ value: 5n }))).toThrowError(MissingState)
    before[Symbol.dispose]()
    before[Symbol.dispose]()

    // slot 0 := tload(0) + balance of other; slot 1 := gas of a cold read of slot 9
    const next = sessionOf(
      { [contract]: { code: `0x${push(0)}5c${push(other)}3101${storeIn(0)}5a${push(1)}54505a9003${storeIn(9)}00` } },
      paris,
    )
    const clean = sessionOf({ [contract]: { code: `0x${push(other)}31${storeIn(0)}5a${push(1)}54505a9003${storeIn(9)}00` } })
    expect(runOnce(next).kind).toBe('halt')
    const outcome = runOnce(clean)
    expect(outcome).toMatchObject({ kind: 'success', logs: [] })
    expect([0, 1, 9].map((slot) => clean.slot(contract, slotOf(slot)))).toEqual([0n, 0n, 2_100n + 7n])
    expect([sender, addressOf(0x66), third].map((address) => clean.account(address))).toEqual([undefined, undefined, undefined])
    expect(changes(clean)).toHaveLength(1)
  })

  it(`evm ${name}: isolates two concurrent sessions`, () => {
    const [first, second] = [sessionOf({ [other]: { balance: '0x1' } }), sessionOf({ [other]: { balance: '0x2' } })]
    first.addBalance(other, 10n)
    second.addBalance(other, 20n)
    expect([first.account(other)?.balance, second.account(other)?.balance]).toEqual([11n, 22n])
  })

  const revertAtEnd = `${push(0)}${push(0)}fd`

  it(`evm ${name}: repeats reverted effects correctly: self-destruction, warm slots, a log`, () => {
    const heir = addressOf(0x77)
    const cold = addressOf(0x78)
    // the first frame is reverted with all its calls; then the same calls are made without a revert
    const once = `${callTo(third)}50${push(cold)}3150${push(0)}${push(0)}a0`
    const price = `5a${push(cold)}31505a9003`
    const session = sessionOf(
      {
        [contract]: { code: `0x${callTo(other)}50${price}${storeIn(0)}${once}${price}${storeIn(1)}00` },
        [other]: { code: `0x${once}${revertAtEnd}` },
        [third]: { balance: '0x5', nonce: '0x1', code: `0x${push(heir)}ff`, storage: { '0x1': '0x1' } },
      },
      paris,
    )
    const outcome = runOnce(session)
    expect(outcome.kind === 'success' && outcome.logs).toHaveLength(1)
    expect([0, 1].map((slot) => session.slot(contract, slotOf(slot)) - 7n)).toEqual([2_600n, 100n])
    expect([session.account(third), session.account(heir)?.balance]).toEqual([undefined, 5n])
    expect(session.diff().isWiped(keyOf(third))).toBe(true)
  })

  it(`evm ${name}: restores slots, original values and transient values on a revert`, () => {
    // with input the code writes and reverts; without input it calls itself with input, then reads the values
    const writes = `5b${push(9)}${storeIn(2)}${push(8)}${push(3)}5d${revertAtEnd}`
    const callSelf = `${push(0).repeat(2)}${push(1)}${push(0)}${push(0)}305af150`
    const tells = `${callSelf}${push(3)}5c${storeIn(1)}${push(2)}54${storeIn(0)}5a${push(6)}${storeIn(2)}5a9003${storeIn(4)}00`
    const at = (3 + 1 + tells.length / 2).toString(16).padStart(2, '0')
    const session = sessionOf({ [contract]: { code: `0x3660${at}57${tells}${writes}`, storage: { '0x2': '0x5' } } })
    session.beginTransaction({ ...testTransaction(sender), warm: [{ address: contract, slots: [slotOf(2)] }] })
    expect(session.run(message()).kind).toBe('success')
    session.endTransaction()
    // SSTORE sees the slot's value at the start of the transaction: 2,900 gas
    expect([0, 1, 2, 4].map((slot) => session.slot(contract, slotOf(slot)))).toEqual([5n, 0n, 6n, 2_900n + 8n])
  })
}

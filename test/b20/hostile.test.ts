import { describe, expect, it } from 'vitest'
import type { NativeFork } from '#chainspec/evmRules'
import { type Evm, type EvmSession, MissingState, type Outcome, type StateView } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { factoryAddress, policyRegistryAddress } from '#nativeContracts/addresses'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type Address, parseAddress } from '#types/ids'
import { type Argument, call, encode, errorData, nameHash } from './abi.ts'
import { judgedNamed } from './judged.ts'
import { vectorRules } from './replay.ts'
import { admin, alice, blockAt, bob, carol, createToken, creationData, openNative, send, sendOk } from './tokens.ts'
import { VectorWorld } from './world.ts'

const interpreters = judgedNamed(['wasm', 'traced', 'reference'])
const forks = ['beryl', 'cobalt', 'denim'] as const
const allowlistType = 1n

type Prepared = { readonly world: VectorWorld; readonly token: Address; readonly policy: bigint }

/** A state with a token that restricts senders by an allow list, and balances of alice and bob. */
function prepare(fork: NativeFork): Prepared {
  const world = new VectorWorld({})
  using session = openNative(sharedEvm, fork)
  const token = createToken(session)
  const created = sendOk(
    session,
    admin,
    policyRegistryAddress,
    call('createPolicyWithAccounts(address,uint8,address[])', admin, allowlistType, [alice]),
  )
  const policy = BigInt(toHex(created))
  for (const holder of [alice, bob]) sendOk(session, admin, token, call('mint(address,uint256)', holder, 1_000n))
  sendOk(session, alice, token, call('approve(address,uint256)', bob, 500n))
  sendOk(session, admin, token, call('updatePolicy(bytes32,uint64)', nameHash('TRANSFER_SENDER_POLICY'), policy))
  world.apply(session.diff())
  return { world, token, policy }
}

const internal = [
  call('mint(address,uint256)', carol, 5n),
  call('updateName(string)', { text: 'A name that is longer than one word of storage' }),
]
const memo = `0x${'77'.repeat(32)}` as const

/** Calls that access state in many ways: caller, called address or the token, call data. */
function callsOf({ token, policy }: Prepared): readonly (readonly [name: string, caller: Address, to: Address, data: Uint8Array])[] {
  return [
    ['transfer', alice, token, call('transferWithMemo(address,uint256,bytes32)', carol, 7n, memo)],
    ['transferFrom', bob, token, call('transferFrom(address,address,uint256)', alice, carol, 7n)],
    ['a forbidden transfer', bob, token, call('transfer(address,uint256)', carol, 7n)],
    ['batchMint', admin, token, call('batchMint(address[],uint256[])', [alice, carol], [1n, 2n])],
    ['announce', admin, token, call('announce(bytes[],string,string,string)', internal, { text: 'id' }, { text: 'd' }, { text: 'u' })],
    ['grantRole', admin, token, call('grantRole(bytes32,address)', 0n, carol)],
    ['updatePolicy', admin, token, call('updatePolicy(bytes32,uint64)', nameHash('MINT_RECEIVER_POLICY'), policy)],
    ['creation', alice, factoryAddress, creationData(9, alice, [call('updateContractURI(string)', { text: 'x'.repeat(70) })])],
    ['updateAllowlist', admin, policyRegistryAddress, call('updateAllowlist(uint64,bool,address[])', policy, true, [bob, carol])],
  ]
}

const openAt = (evm: Evm, fork: NativeFork, view: StateView): EvmSession => evm.open(view, blockAt(1_795_000_100), vectorRules(fork, admin))
const changesOf = (session: EvmSession): string => JSON.stringify(session.changed().toSorted())

/** What consensus sees of a message, as text. */
function seenOf(session: EvmSession, outcome: Outcome, world: VectorWorld): unknown {
  const { kind, gasLeft, gasRefund, output } = outcome
  const logs = outcome.kind === 'success' ? outcome.logs.map(({ address, topics, data }) => [address, topics, toHex(data)]) : []
  return { kind, gasLeft, gasRefund, output: toHex(output), logs, changed: changesOf(session), slots: world.changesIn(session.diff()) }
}

describe.each(forks)('b20/hostile: %s', (fork) => {
  const prepared = prepare(fork)
  const { world, token } = prepared

  it.each(callsOf(prepared))(
    '%s ends alike on all interpreters with any gas, and changes nothing when it fails',
    (_name, caller, to, data) => {
      const run = ({ evm }: { readonly evm: Evm }, gas: bigint): unknown => {
        using session = openAt(evm, fork, world.view())
        return seenOf(session, send(session, caller, to, data, gas), world)
      }
      const used = gasOf(fork, world, caller, to, data)
      const step = used / 60n + 1n
      for (let gas = 0n; gas <= used + 2_400n; gas += step) {
        const [first, ...others] = interpreters.map((each) => run(each, gas)) as { kind: string; slots: string[] }[]
        for (const other of others) expect(other).toEqual(first)
        if (first?.kind !== 'success') expect(first?.slots).toEqual([])
      }
    },
  )

  it.each(callsOf(prepared))('%s resumes after each state that is missing', (_name, caller, to, data) => {
    for (const { evm } of interpreters) {
      using direct = openAt(evm, fork, world.view())
      const expected = seenOf(direct, send(direct, caller, to, data), world)
      const lazy = lazyView(world.view())
      using session = openAt(evm, fork, lazy.view)
      expect(seenOf(session, sendResuming(session, caller, to, data), world)).toEqual(expected)
      expect(lazy.missed()).toBeGreaterThan(4)
    }
  })

  it('a call at the depth limit runs, a call below it is refused', () => {
    const recursion = parseAddress(`0x${'de'.repeat(20)}`)
    for (const { evm } of interpreters) {
      const runAt = (depth: number): string => {
        using session = openAt(evm, fork, world.view())
        session.setCode(recursion, fromHex(recursionCode))
        sendOk(session, admin, token, call('grantRole(bytes32,address)', nameHash('OPERATOR_ROLE'), recursion))
        const announcement = call('announce(bytes[],string,string,string)', [call('name()')], { text: 'deep' }, { text: '' }, { text: '' })
        return toHex(send(session, alice, recursion, concatBytes(encode(BigInt(depth), token), announcement), 2n ** 40n).output)
      }
      expect([1_023, 1_024].map(runAt)).toEqual([toHex(encode(1n)), toHex(encode(0n))])
    }
  })

  it('a batch has at most 64 accounts', () => {
    const accounts = Array.from({ length: 65 }, (_, i) => parseAddress(`0x${(0x1000 + i).toString(16).padStart(40, '0')}`))
    const tooLarge = errorData('BatchSizeTooLarge(uint256)', 64n)
    const create = (type: bigint, count: number) =>
      call('createPolicyWithAccounts(address,uint8,address[])', admin, type, accounts.slice(0, count))
    for (const { evm } of interpreters) {
      using session = openAt(evm, fork, world.view())
      for (const [type, update] of [
        [allowlistType, 'updateAllowlist(uint64,bool,address[])'],
        [0n, 'updateBlocklist(uint64,bool,address[])'],
      ] as const) {
        const id = BigInt(toHex(sendOk(session, admin, policyRegistryAddress, create(type, 64))))
        const members = (): boolean[] =>
          [0, 63, 64].map((index) => {
            const asked = call('isAuthorized(uint64,address)', id, accounts[index] as Address)
            return (BigInt(toHex(sendOk(session, bob, policyRegistryAddress, asked))) === 1n) === (type === allowlistType)
          })
        expect(members()).toEqual([true, true, false])
        sendOk(session, admin, policyRegistryAddress, call(update, id, false, accounts.slice(1)))
        expect(members()).toEqual([true, false, false])
        for (const refused of [create(type, 65), call(update, id, true, accounts)])
          expect(toHex(send(session, admin, policyRegistryAddress, refused).output)).toBe(tooLarge)
        expect(members()).toEqual([true, false, false])
      }
    }
  })
})

/** Calls itself as deep as the first word says, then the address in the second word with the remaining call data; returns its success. */
const recursionCode = '0x365f5f375f3580601e575f5f6040360360405f6020355af15f5260205ff35b600190035f5260205f365f5f305af15060205ff3'

function gasOf(fork: NativeFork, world: VectorWorld, caller: Address, to: Address, data: Uint8Array): bigint {
  using session = openAt(sharedEvm, fork, world.view())
  const gas = 10_000_000n
  return gas - send(session, caller, to, data, gas).gasLeft
}

/** A view that lacks each account, slot and code at the first request. */
function lazyView(view: StateView) {
  const known = new Set<string>()
  const need = (wanted: MissingState['wanted'], name: string): void => {
    if (known.has(name)) return
    known.add(name)
    throw new MissingState(wanted)
  }
  const lazy: StateView = {
    account(addressKey) {
      need({ kind: 'account', addressKey }, toHex(addressKey))
      return view.account(addressKey)
    },
    slot(addressKey, slotKey) {
      need({ kind: 'slot', addressKey, slotKey }, toHex(concatBytes(addressKey, slotKey)))
      return view.slot(addressKey, slotKey)
    },
    code(codeHash) {
      need({ kind: 'code', codeHash }, codeHash)
      return view.code(codeHash)
    },
    blockHash: (number) => view.blockHash(number),
  }
  return { view: lazy, missed: () => known.size }
}

function sendResuming(session: EvmSession, caller: Address, to: Address, data: Uint8Array): Outcome {
  session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
  let run = (): Outcome => session.run({ caller, to, value: 0n, data, gas: 10_000_000n })
  for (;;) {
    try {
      const outcome = run()
      session.endTransaction()
      return outcome
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      run = () => session.resume()
    }
  }
}

describe.each(interpreters)('b20/hostile: composite policies of Denim on $name', ({ evm }) => {
  it('inverted children count with the opposite answer', () => {
    using session = openNative(evm, 'denim')
    const registry = (signature: string, ...values: readonly Argument[]): bigint =>
      BigInt(toHex(sendOk(session, admin, policyRegistryAddress, call(signature, ...values))))
    const inverted = (id: bigint) => registry('invertedPolicyId(uint64)', id)
    const blocksAlice = registry('createPolicyWithAccounts(address,uint8,address[])', admin, 0n, [alice])
    const allowsBob = registry('createPolicyWithAccounts(address,uint8,address[])', admin, allowlistType, [bob])
    const composite = (type: bigint, ...children: bigint[]) =>
      registry('createCompositePolicy(address,uint8,uint64[])', admin, type, children)
    const authorized = (id: bigint) => [alice, bob, carol].map((who) => registry('isAuthorized(uint64,address)', id, who) === 1n)
    expect(authorized(inverted(blocksAlice))).toEqual([true, false, false])
    expect(authorized(inverted(allowsBob))).toEqual([true, false, true])
    expect(authorized(composite(2n, inverted(blocksAlice), allowsBob))).toEqual([true, true, false])
    expect(authorized(composite(3n, blocksAlice, inverted(allowsBob)))).toEqual([false, false, true])
    expect(authorized(inverted(composite(3n, blocksAlice, inverted(allowsBob))))).toEqual([true, true, false])
    const nested = call('createCompositePolicy(address,uint8,uint64[])', admin, 2n, [composite(2n, blocksAlice, allowsBob), allowsBob])
    expect(toHex(send(session, admin, policyRegistryAddress, nested).output)).toMatch(/^0x46508ef6/)
  })
})

it('b20/hostile: a text of V1 that would exceed the interpreter ends with a fault, not with the memory of the process', () => {
  using session = openNative(sharedEvm, 'beryl')
  const token = createToken(session)
  const [count, size] = [40_000, 64_000]
  // every element of the array is the same long byte string, and the id is no UTF-8
  const elements = Array.from({ length: count }, () => BigInt(32 * count))
  const list = concatBytes(encode(BigInt(count), ...elements, BigInt(size)), new Uint8Array(size))
  const id = BigInt(128 + list.length)
  const strings = concatBytes(encode(1n), new Uint8Array([0xff]), new Uint8Array(31))
  const data = concatBytes(call('announce(bytes[],string,string,string)').subarray(0, 4), encode(128n, id, id, id), list, strings)
  expect(() => send(session, admin, token, data)).toThrow(expect.objectContaining({ code: 'EVM_TOO_LARGE' }))
})

it.each(interpreters)('b20/hostile: a batch of many calls that share their bytes takes bounded time on $name', ({ evm }) => {
  using session = openNative(evm, 'denim')
  const token = createToken(session)
  const count = 20_000
  const list = concatBytes(
    encode(BigInt(count), ...Array.from({ length: count }, () => BigInt(32 * count)), 4n),
    call('MINT_ROLE()'),
    new Uint8Array(28),
  )
  const id = BigInt(128 + list.length)
  const data = concatBytes(call('announce(bytes[],string,string,string)').subarray(0, 4), encode(128n, id, id, id), list, encode(0n))
  const startMs = performance.now()
  expect(send(session, admin, token, data).kind).toBe('success')
  expect(performance.now() - startMs).toBeLessThan(5_000)
})

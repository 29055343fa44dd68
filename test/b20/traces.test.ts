import { describe, expect, it } from 'vitest'
import type { EvmSession, KeyPreimage } from '#evm/ports'
import type { TraceListener, Tracer } from '#evm/traceEvents'
import { createTracer } from '#evm/tracing'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { policyRegistryAddress } from '#nativeContracts/addresses'
import { tokenFields } from '#nativeContracts/token/fields'
import { transaction } from '#test/harness/evm/traceScript'
import { type Address, parseAddress } from '#types/ids'
import { call, encode, errorData, nameHash } from './abi.ts'
import { vectorRules } from './replay.ts'
import { balanceSlot, slotHash } from './slots.ts'
import { admin, alice, blockAt, bob, createToken, enough, openNative, sendOk } from './tokens.ts'
import { VectorWorld } from './world.ts'

const relay = parseAddress(`0x${'7e'.repeat(20)}`)
/** Calls the address in the first word with the rest of the call data. */
const relayCode = '0x6020360360206000376000600060203603600060006000355af100'
const world = new VectorWorld({})
const { token, policy } = prepare()

function prepare(): { token: Address; policy: bigint } {
  using session = openNative(createWasmEvm(), 'denim')
  const token = createToken(session)
  const policy = BigInt(
    toHex(sendOk(session, admin, policyRegistryAddress, call('createPolicyWithAccounts(address,uint8,address[])', admin, 0n, [bob]))),
  )
  for (const holder of [alice, relay]) sendOk(session, admin, token, call('mint(address,uint256)', holder, 1_000n))
  sendOk(session, admin, token, call('updatePolicy(bytes32,uint64)', nameHash('TRANSFER_SENDER_POLICY'), policy))
  session.setCode(relay, fromHex(relayCode))
  world.apply(session.diff())
  return { token, policy }
}

const open = (listener: TraceListener): EvmSession =>
  createTracedWasmEvm().open(world.view(), blockAt(1_795_000_100), vectorRules('denim', admin), listener)

function trace(tracer: Tracer, to: Address, data: Uint8Array, caller: Address = alice): unknown {
  using session = open(tracer)
  using before = createWasmEvm().open(world.view(), blockAt(1_795_000_100), vectorRules('denim', admin))
  tracer.begin(transaction({ from: caller, to, data, gas: Number(enough) }))
  session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
  const outcome = session.run({ caller, to, value: 0n, data, gas: enough })
  tracer.end({ gasUsed: Number(enough - outcome.gasLeft), succeeded: outcome.kind === 'success' }, before, session)
  return tracer.result()
}

const transferOf = (amount: bigint) => call('transfer(address,uint256)', bob, amount)
const throughRelay = (data: Uint8Array) => concatBytes(encode(token), data)

describe('b20/traces', () => {
  it('callTracer shows a native contract as a call with its name, logs and revert data', () => {
    const result = trace(createTracer({ tracer: 'callTracer', tracerConfig: { withLog: true } }), relay, throughRelay(transferOf(5n)))
    expect(result).toMatchObject({ to: relay, calls: [{ type: 'CALL', from: relay, to: token, nativeContract: 'B20Asset' }] })
    expect(result).toMatchObject({ calls: [{ output: toHex(encode(1n)), logs: [{ address: token, data: toHex(encode(5n)) }] }] })
    const failed = trace(createTracer({ tracer: 'callTracer' }), token, transferOf(10n ** 6n))
    const output = errorData('InsufficientBalance(address,uint256,uint256)', alice, 1_000n, 10n ** 6n)
    expect(failed).toMatchObject({ nativeContract: 'B20Asset', error: 'execution reverted', output })
  })

  it('flatCallTracer and 4byteTracer keep calls of native contracts, unlike those of precompiles', () => {
    const flat = trace(createTracer({ tracer: 'flatCallTracer' }), relay, throughRelay(transferOf(5n))) as readonly {
      action: { to?: string }
    }[]
    expect(flat.map(({ action }) => action.to)).toEqual([relay, token])
    expect(trace(createTracer({ tracer: '4byteTracer' }), token, transferOf(5n))).toHaveProperty('0xa9059cbb-64', 1)
  })

  it('prestateTracer reports the slots of the token and of the policy registry, and their changes', () => {
    const before = trace(createTracer({ tracer: 'prestateTracer' }), token, transferOf(5n)) as Record<
      string,
      { storage: Record<string, string> }
    >
    expect(before[token]).toMatchObject({
      code: '0xef',
      storage: { [balanceSlot(alice)]: toHex(encode(1_000n)), [balanceSlot(bob)]: toHex(encode(0n)) },
    })
    expect(Object.keys(before[policyRegistryAddress]?.storage ?? {})).toHaveLength(1)
    const changes = trace(createTracer({ tracer: 'prestateTracer', tracerConfig: { diffMode: true } }), token, transferOf(5n))
    expect(changes).toMatchObject({
      pre: { [token]: { storage: { [balanceSlot(alice)]: toHex(encode(1_000n)) } } },
      post: { [token]: { storage: { [balanceSlot(alice)]: toHex(encode(995n)), [balanceSlot(bob)]: toHex(encode(5n)) } } },
    })
    expect(changes).not.toHaveProperty(`post.${policyRegistryAddress}`)
  })

  it('a session returns the key of every account and slot that the call needs', () => {
    using session = open(createTracer({ tracer: 'callTracer' }))
    session.beginTransaction({ origin: alice, gasPrice: 0n, blobHashes: [], warm: [] })
    expect(session.run({ caller: alice, to: token, value: 0n, data: transferOf(5n), gas: enough }).kind).toBe('success')
    const { accounts, slots } = session.readKeys()
    const preimages = (of: readonly KeyPreimage[]): string[] => of.map(({ preimage }) => toHex(preimage))
    expect(preimages(accounts)).toEqual(expect.arrayContaining([alice, token, policyRegistryAddress]))
    const before = trace(createTracer({ tracer: 'prestateTracer' }), token, transferOf(5n)) as Record<string, { storage?: object }>
    const [policySlot] = Object.keys(before[policyRegistryAddress]?.storage ?? {})
    const expected = [balanceSlot(alice), balanceSlot(bob), slotHash(tokenFields.paused), policySlot]
    expect(preimages(slots)).toEqual(expect.arrayContaining(expected))
  })

  it('a forbidden transfer names the policy', () => {
    const result = trace(createTracer({ tracer: 'callTracer' }), token, call('transfer(address,uint256)', alice, 0n), bob)
    expect(result).toMatchObject({ output: errorData('PolicyForbids(bytes32,uint64)', nameHash('TRANSFER_SENDER_POLICY'), policy) })
  })
})

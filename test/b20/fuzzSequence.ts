import { type NativeFork, nativeForks } from '#chainspec/evmRules'
import type { Evm, EvmSession, Outcome, StateView } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { factoryAddress, policyRegistryAddress } from '#nativeContracts/addresses'
import { tokenFields } from '#nativeContracts/token/fields'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import { dice } from '../harness/dice.ts'
import { createReferenceEvm } from '../reference/referenceEvm.ts'
import { call, encode, nameHash } from './abi.ts'
import { type Dice, type FuzzMessage, holders, MessageMaker, relay, relayCode } from './fuzzCalls.ts'
import { vectorRules } from './replay.ts'
import { balanceSlot, slotHash } from './slots.ts'
import { admin, alice, blockAt, bob, carol, createToken, openNative, send, sendOk } from './tokens.ts'
import { VectorWorld } from './world.ts'

const time = 1_795_000_100
const supplySlot = slotHash(tokenFields.totalSupply)
const balanceSlots = new Map<Address, Hash>()
const transferTopic = toHex(keccak256Text('Transfer(address,address,uint256)'))

function balanceSlotOf(holder: Address): Hash {
  const known = balanceSlots.get(holder)
  if (known !== undefined) return known
  const slot = balanceSlot(holder)
  balanceSlots.set(holder, slot)
  return slot
}

type Base = { readonly view: StateView; readonly tokens: readonly Address[]; readonly policies: readonly bigint[] }
const bases = new Map<NativeFork, Base>()

/** Returns the state before a sequence: two tokens with balances, roles and allowances, four policies and a relay. */
function baseOf(fork: NativeFork): Base {
  const known = bases.get(fork)
  if (known) return known
  using session = openNative(createWasmEvm(), fork)
  session.setCode(relay, relayCode)
  const tokens = [createToken(session), createStablecoin(session)]
  const create = (type: bigint, who: Address) =>
    BigInt(
      toHex(sendOk(session, admin, policyRegistryAddress, call('createPolicyWithAccounts(address,uint8,address[])', admin, type, [who]))),
    )
  const policies = [create(0n, bob), create(1n, alice)]
  for (const token of tokens) {
    for (const holder of [alice, bob, carol, relay]) sendOk(session, admin, token, call('mint(address,uint256)', holder, 1_000n))
    sendOk(session, alice, token, call('approve(address,uint256)', bob, 2n ** 256n - 1n))
    sendOk(session, bob, token, call('approve(address,uint256)', carol, 50n))
    sendOk(session, admin, token, call('updatePolicy(bytes32,uint64)', nameHash('TRANSFER_SENDER_POLICY'), policies[0] as bigint))
  }
  const world = new VectorWorld({})
  world.apply(session.diff())
  const base = { view: world.view(), tokens, policies }
  bases.set(fork, base)
  return base
}

function createStablecoin(session: EvmSession): Address {
  const members = encode(1n, { text: 'Dollar' }, { text: 'USDX' }, admin, { text: 'USD' })
  const params = concatBytes(encode(32n), members)
  const heads = concatBytes(encode(1n, 7n, 128n, BigInt(128 + 32 + params.length), BigInt(params.length)), params, encode(0n))
  const data = concatBytes(call('createB20(uint8,bytes32,bytes,bytes[])').subarray(0, 4), heads)
  const token = addressFromBytes(sendOk(session, admin, factoryAddress, data).subarray(12))
  const roles = ['MINT_ROLE', 'BURN_ROLE', 'BURN_BLOCKED_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'METADATA_ROLE', 'SEIZE_ROLE']
  for (const role of roles) sendOk(session, admin, token, call('grantRole(bytes32,address)', nameHash(role), admin))
  return token
}

type Balances = ReadonlyMap<string, bigint>

function balancesOf(session: EvmSession, tokens: readonly Address[]): Balances {
  return new Map(
    tokens.flatMap((token) => holders(tokens).map((holder) => [`${token} ${holder}`, session.slot(token, balanceSlotOf(holder))])),
  )
}

/** Returns the balances that the events of a message imply. */
function movedBy(outcome: Outcome, before: Balances): Balances {
  const after = new Map(before)
  if (outcome.kind !== 'success') return after
  for (const { address, topics, data } of outcome.logs) {
    if (topics[0] !== transferTopic) continue
    const amount = BigInt(toHex(data))
    const [from, to] = [1, 2].map((i) => `${address} 0x${(topics[i] as string).slice(26)}`) as [string, string]
    const isMint = from.endsWith(' 0x0000000000000000000000000000000000000000')
    const isBurn = to.endsWith(' 0x0000000000000000000000000000000000000000')
    if (!isMint && after.has(from)) after.set(from, (after.get(from) ?? 0n) - amount)
    if (!isBurn && after.has(to)) after.set(to, (after.get(to) ?? 0n) + amount)
  }
  return after
}

const differs = (a: Balances, b: Balances): string | undefined => [...a.keys()].find((key) => a.get(key) !== b.get(key))
const bytesOf = (session: EvmSession): Buffer => Buffer.from(session.diff().bytes)

function seen(outcome: Outcome): string {
  const logs = outcome.kind === 'success' ? outcome.logs.map(({ address, topics, data }) => [address, topics, toHex(data)]) : []
  return JSON.stringify([outcome.kind, `${outcome.gasLeft}`, `${outcome.gasRefund}`, toHex(outcome.output), logs])
}

/** Asks the registry whether the sender of a direct transfer is authorized by the token's sender policy. */
function isForbidden(session: EvmSession, { caller, to, data }: FuzzMessage): boolean {
  if (toHex(data.subarray(0, 4)) !== '0xa9059cbb') return false
  const id = BigInt(toHex(send(session, caller, to, call('policyId(bytes32)', nameHash('TRANSFER_SENDER_POLICY'))).output))
  const answer = send(session, caller, policyRegistryAddress, call('isAuthorized(uint64,address)', id, caller))
  return BigInt(toHex(answer.output)) === 0n
}

/** Returns the violated property of a message, if any. */
function violation(
  session: EvmSession,
  tokens: readonly Address[],
  before: Balances,
  outcome: Outcome,
  wasForbidden: boolean,
  unchanged: () => boolean,
) {
  const after = balancesOf(session, tokens)
  const moved = differs(after, movedBy(outcome, before))
  if (moved !== undefined) return `the balance ${moved} changed without an event`
  for (const token of tokens) {
    const sum = holders(tokens).reduce((total, holder) => total + (after.get(`${token} ${holder}`) ?? 0n), 0n)
    if (sum !== session.slot(token, supplySlot)) return `the supply of ${token} is not the sum of its balances`
  }
  if (wasForbidden && outcome.kind === 'success') return 'a forbidden transfer succeeded'
  return outcome.kind !== 'success' && !unchanged() ? `a ${outcome.kind} changed state` : undefined
}

export type FuzzFailure = {
  readonly seed: number
  readonly fork: NativeFork
  readonly index: number
  readonly reason: string
  readonly message: string
}
export type FuzzCounts = { messages: number; succeeded: number }

const evms: { readonly wasm: Evm; readonly reference: Evm } = { wasm: createWasmEvm(), reference: createReferenceEvm() }

/** Runs one random sequence on both interpreters. @returns the first difference or violation */
export function runSequence(seed: number, counts: FuzzCounts): FuzzFailure | undefined {
  const roll: Dice = dice(seed)
  const fork = nativeForks[roll(nativeForks.length)] as NativeFork
  const { view, tokens, policies } = baseOf(fork)
  const rules = vectorRules(fork, admin)
  using wasm = evms.wasm.open(view, blockAt(time), rules)
  using reference = evms.reference.open(view, blockAt(time), rules)
  const maker = new MessageMaker(roll, tokens, policies)
  const length = 2 + roll(9)
  for (let index = 0; index < length; index++) {
    const message = maker.next()
    const reason = checkMessage(wasm, reference, tokens, message, counts)
    const text = `${message.caller} ${message.to} ${message.gas} ${toHex(message.data)}`
    if (reason !== undefined) return { seed, fork, index, reason, message: text }
  }
  return bytesOf(wasm).equals(bytesOf(reference)) ? undefined : { seed, fork, index: length, reason: 'the states differ', message: '' }
}

function checkMessage(wasm: EvmSession, reference: EvmSession, tokens: readonly Address[], message: FuzzMessage, counts: FuzzCounts) {
  const { caller, to, data, gas } = message
  const wasForbidden = isForbidden(wasm, message)
  const before = balancesOf(wasm, tokens)
  const state = bytesOf(wasm)
  const outcome = send(wasm, caller, to, data, gas)
  const [ours, theirs] = [seen(outcome), seen(send(reference, caller, to, data, gas))]
  counts.messages++
  if (outcome.kind === 'success') counts.succeeded++
  if (ours !== theirs) return `wasm ${ours}, reference ${theirs}`
  return violation(wasm, tokens, before, outcome, wasForbidden, () => bytesOf(wasm).equals(state))
}

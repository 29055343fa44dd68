import { type EvmFork, evmForks } from '#chainspec/evmRules'
import { bytesFromBigint, concatBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type CaseAccount, type CaseMessage, type EvmCase, rulesOf } from '#test/harness/evm/case'
import { addressOf, testBlock } from '#test/harness/evm/host'
import { type Address, hashFromBytes, parseAddress } from '#types/ids'
import { precompileAddresses } from '../../../src/evm/precompiles/precompileAt.ts'
import type { Corpus } from './corpus.ts'
import { edgeContract, edgeDriver, edgesOf } from './edges.ts'
import { inputFor, mutated } from './mutate.ts'
import { contract, initcode, reader } from './program.ts'
import { type Random, randomOf } from './random.ts'
import { deepCalls, templates } from './templates.ts'
import type { Surroundings } from './writer.ts'

const sender = addressOf(0x11)
const plain = [0x22, 0x33, 0x44, 0x55].map(addressOf)
const readers = [0x66, 0x77].map(addressOf)
/** Accounts with a delegation (EIP-7702): to a contract, to a reader, to another of these, to itself, to a precompile, to an absent account. */
const delegated = [0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6].map(addressOf)
const [holder, absentAccount] = [addressOf(0xe1), addressOf(0xe2)]
const identity = parseAddress(`0x${'4'.padStart(40, '0')}`)
const startBalance = 10n ** 18n
/** Excluded: the oracle runs without a KZG library. */
const pointEvaluation = 10n

const delegation = (to: Address): Uint8Array => concatBytes(Uint8Array.of(0xef, 1, 0), fromHex(to))

function surroundingsOf(fork: EvmFork, corpus: Corpus): Surroundings {
  return {
    fork,
    contracts: [...plain, ...plain, ...readers, ...delegated.slice(0, fork === 'prague' || fork === 'osaka' ? 6 : 1)],
    readers,
    others: [holder, absentAccount, testBlock.beneficiary, sender, identity],
    precompiles: precompileAddresses(rulesOf(fork))
      .map(BigInt)
      .filter((address) => address !== pointEvaluation),
    precompileInputs: corpus.precompileInputs,
  }
}

function codeOf(random: Random, around: Surroundings, corpus: Corpus): Uint8Array {
  const real = (): Uint8Array => random.pick(corpus.codes)
  return random.weighted<() => Uint8Array>([
    [60, () => contract(random, around)],
    [8, () => mutated(random, contract(random, around), real())],
    [5, real],
    [7, () => mutated(random, real(), real())],
    [12, () => random.pick(templates)(random, around)],
    [8, () => edgeContract(random, random.pick(edgesOf(around.fork))).code],
  ])()
}

function storageOf(random: Random): Map<bigint, bigint> {
  const storage = new Map<bigint, bigint>()
  for (let slot = 0n; slot < 6n; slot++) {
    const value = random.pick([0n, 0n, 5n, 5n, random.word()])
    if (value !== 0n) storage.set(slot, value)
  }
  return storage
}

function accountsOf(random: Random, around: Surroundings, corpus: Corpus): Map<Address, CaseAccount> {
  const nonce = (): bigint => (random.percent(1) ? 2n ** 64n - random.pick([1n, 2n, 3n]) : 1n)
  const accounts = new Map<Address, CaseAccount>()
  const add = (address: Address, code: Uint8Array): void => {
    accounts.set(address, { nonce: nonce(), balance: random.percent(80) ? 1_000_000n : 0n, code, storage: storageOf(random) })
  }
  for (const [i, address] of plain.entries())
    add(address, i === 0 && random.percent(85) ? contract(random, around) : codeOf(random, around, corpus))
  for (const address of readers)
    add(address, random.percent(75) ? reader(random, around) : edgeContract(random, random.pick(edgesOf(around.fork))).code)
  const targets = [plain[1], readers[0], delegated[0], delegated[3], identity, absentAccount]
  for (const [i, address] of delegated.entries()) add(address, delegation(targets[i] ?? absentAccount))
  accounts.set(sender, { nonce: 1n, balance: startBalance, code: emptyBytes, storage: new Map() })
  accounts.set(holder, { nonce: 0n, balance: 5n, code: emptyBytes, storage: new Map() })
  return accounts
}

function gasOf(random: Random): bigint {
  return BigInt(
    random.weighted([
      [1, random.below(5_000)],
      [1, random.between(5_000, 40_000)],
      [2, random.between(40_000, 200_000)],
      [16, random.between(400_000, 3_000_000)],
    ]),
  )
}

/** Access list, mostly of called accounts and of slots that they use. */
function accessList(random: Random, around: Surroundings): NonNullable<CaseMessage['warm']> {
  return Array.from({ length: random.between(1, 4) }, () => ({
    address: random.pick(random.percent(80) ? around.contracts : around.others),
    slots: Array.from({ length: random.below(4) }, () => hashFromBytes(bytesFromBigint(BigInt(random.below(10)), 32))),
  }))
}

function messageOf(random: Random, around: Surroundings, accounts: EvmCase['accounts']): CaseMessage {
  const value = random.percent(70) ? 0n : BigInt(random.below(1_000))
  const listed = random.percent(20) ? { warm: accessList(random, around) } : {}
  const blobs = random.percent(10)
    ? { blobHashes: Array.from({ length: random.between(1, 3) }, () => hashFromBytes(random.bytes(32))) }
    : {}
  const common = { from: sender, value, gas: gasOf(random), ...listed, ...blobs }
  const canDelegate = around.fork === 'prague' || around.fork === 'osaka'
  const setCode =
    canDelegate && random.percent(10)
      ? {
          setCode: {
            of: random.pick([sender, holder, ...delegated]),
            code: random.percent(80) ? delegation(random.pick(plain)) : emptyBytes,
          },
        }
      : {}
  if (random.percent(10)) {
    const data = random.percent(90) ? initcode({ random, around, nesting: 0 }) : random.bytes(random.below(60))
    return { ...common, ...setCode, to: null, data }
  }
  const to = random.weighted([
    [15, plain[0] ?? sender],
    [5, random.pick(around.contracts)],
    [1, random.pick(around.others)],
  ])
  return { ...common, ...setCode, to, data: inputFor(random, accounts.get(to)?.code ?? emptyBytes) }
}

/** Calls down to the depth limit: only with much gas, and only for this contract. */
function deepCase(random: Random, around: Surroundings): EvmCase {
  const [to = sender] = plain
  const accounts = new Map<Address, CaseAccount>([
    [sender, { nonce: 1n, balance: startBalance, code: emptyBytes, storage: new Map() }],
    [to, { nonce: 1n, balance: 5n, code: deepCalls(random, around), storage: new Map() }],
  ])
  return {
    fork: around.fork,
    accounts,
    messages: [{ from: sender, to, value: 0n, data: emptyBytes, gas: 10n ** BigInt(random.between(6, 13)) }],
  }
}

const edgeCaseEvery = 8
const edgesPerCase = 40

/** True for the number of an edge case; the edges of all opcodes are run in turn. */
export const isEdgeCase = (index: number): boolean => index % edgeCaseEvery === 0

function edgeCase(random: Random, index: number): EvmCase {
  const turn = Math.floor(index / edgeCaseEvery)
  const fork = random.percent(70) ? 'osaka' : random.pick(evmForks)
  const edges = edgesOf(fork)
  const accounts = new Map<Address, CaseAccount>()
  const add = (address: Address, code: Uint8Array): void => {
    accounts.set(address, { nonce: 1n, balance: 100n, code, storage: new Map([[1n, 5n]]) })
  }
  accounts.set(sender, { nonce: 1n, balance: startBalance, code: emptyBytes, storage: new Map() })
  const calls = Array.from({ length: edgesPerCase }, (_, i) => {
    const to = parseAddress(`0x${(0xed0000 + i).toString(16).padStart(40, '0')}`)
    const edge = edges[(turn * edgesPerCase + i) % edges.length]
    const { code, gas, isStatic } = edgeContract(random, edge ?? random.pick(edges))
    add(to, code)
    return { to, gas, isStatic }
  })
  const [driver = sender] = plain
  add(driver, edgeDriver(calls))
  const message = { from: sender, to: driver, value: 0n, data: emptyBytes, gas: 20_000_000n }
  return { fork, accounts, messages: [message, { ...message, data: random.bytes(3) }] }
}

/** World of a fork with the messages that run in it. */
export function caseIn(fork: EvmFork, random: Random, corpus: Corpus): EvmCase {
  const around = surroundingsOf(fork, corpus)
  if (random.percent(0.3)) return deepCase(random, around)
  const accounts = accountsOf(random, around, corpus)
  const messages = Array.from(
    {
      length: random.weighted([
        [6, 1],
        [2, 2],
        [1, 3],
      ]),
    },
    () => messageOf(random, around, accounts),
  )
  return { fork, accounts, messages }
}

/** Returns the case of a seed and a number. The same corpus gives the same case. */
export function caseOf(seed: number, index: number, corpus: Corpus): EvmCase {
  const random = randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b))
  if (isEdgeCase(index)) return edgeCase(random, index)
  return caseIn(evmForks[index % evmForks.length] ?? 'osaka', random, corpus)
}

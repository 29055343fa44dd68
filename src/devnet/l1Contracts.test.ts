import { decodeErrorResult, encodeFunctionData } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { userDeposits } from '#chainspec/deposits'
import type { EvmSession, Outcome } from '#evm/ports'
import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { prague, testBlock } from '#test/harness/evm/host'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { addressOf, devnetL1Options, owner, portalAbi, stranger, systemConfigAbi, user } from '#test/harness/l1/devnetL1'
import { decodeDeposit } from '#types/deposit'
import { type Address, parseAddress, zeroAddress, zeroHash } from '#types/ids'
import type { Log } from '#types/log'
import { createReceipt } from '#types/receipt'
import { genesisView } from './l1/memoryState.ts'
import { portalAddress, systemConfigAddress } from './l1Contracts.ts'
import { type RecordedChainName, readRecordedChain, recordedChains } from './recordedChain.ts'

type Call = { caller: Address; origin?: Address; to?: Address; value?: bigint; data?: string; gas?: bigint }

const sessions: EvmSession[] = []
afterEach(() => {
  for (const session of sessions.splice(0)) session[Symbol.dispose]()
})

/** The contracts of genesis, in one block with consecutive calls. */
function openContracts(code?: { address: Address; code: Uint8Array }) {
  const { accounts, contracts } = devnetL1Options
  const extra = code ? [{ ...code, storage: new Map() }] : []
  const state = genesisView(accounts, [...contracts, ...extra])
  const session = sharedEvm.open(state, testBlock, prague)
  sessions.push(session)
  return ({ caller, origin = caller, to = portalAddress, value = 0n, data = '0x', gas = 20_000_000n }: Call): Outcome => {
    session.beginTransaction({ origin, gasPrice: 0n, blobHashes: [], warm: [] })
    session.addBalance(caller, value)
    const outcome = session.run({ caller, to, value, data: fromHex(data), gas })
    session.endTransaction()
    return outcome
  }
}

const logsOf = (outcome: Outcome): readonly Log[] => (outcome.kind === 'success' ? outcome.logs : expect.fail(outcome.kind))
const errorOf = (outcome: Outcome): string =>
  outcome.kind === 'revert'
    ? decodeErrorResult({ abi: [...portalAbi, ...systemConfigAbi], data: toHex(outcome.output) }).errorName
    : expect.fail(outcome.kind)
const deposit = (to: string, value: bigint, gasLimit: bigint, isCreation: boolean, data: string): string =>
  encodeFunctionData({ abi: portalAbi, functionName: 'depositTransaction', args: [to, value, gasLimit, isCreation, data] as never })
const configCall = (functionName: string, args: readonly unknown[]): string =>
  encodeFunctionData({ abi: systemConfigAbi, functionName, args: args as never })

type RecordedLog = { readonly address: string; readonly topics: readonly string[]; readonly data: string }
const names = Object.keys(recordedChains) as RecordedChainName[]

/** Events of another contract on a recorded L1. */
function recordedLogs(name: RecordedChainName, of: 'depositContract' | 'l1SystemConfig'): readonly RecordedLog[] {
  const { l1, config } = readRecordedChain(name)
  const logs = l1.blocks.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt['logs'] as readonly RecordedLog[]))
  return logs.filter(({ address }) => address === config[of])
}
const shown = ({ topics, data }: Log): Omit<RecordedLog, 'address'> => ({ topics, data: toHex(data) })

describe('contracts/DevnetPortal', () => {
  it.each(names)('emits the same bytes as the portal of %s for the same deposits', (name) => {
    const recorded = recordedLogs(name, 'depositContract')
    expect(recorded.length).toBeGreaterThan(7)
    const kinds: string[] = []
    for (const { topics, data } of recorded) {
      const receipt = createReceipt({
        type: 2,
        succeeded: true,
        cumulativeGasUsed: 0n,
        logs: [{ address: portalAddress, topics: topics as never, data: fromHex(data) }],
      })
      const [raw = expect.fail()] = userDeposits(portalAddress, zeroHash, [receipt])
      const { from, to, mint, value, gasLimit, data: input } = decodeDeposit(raw)
      const call = deposit(to ?? zeroAddress, value, gasLimit, to === null, toHex(input))
      const isAliased = from === parseAddress('0x3c685555155337cd46d47c2ca57e4698a1f05f81')
      const caller = isAliased ? parseAddress('0x2b574555158337cd46d47c2ca57e4698a1f04e70') : from
      const open = openContracts()
      const outcome = open({ caller, ...(isAliased && { origin: addressOf(user) }), value: mint, data: call })
      // the recorded portal has no minimum gas limit
      if (gasLimit < 21_000n + 40n * BigInt(input.length)) expect(errorOf(outcome)).toBe('GasLimitTooLow')
      else expect(logsOf(outcome).map(shown)).toEqual([{ topics, data }])
      kinds.push(outcome.kind)
    }
    expect(kinds.filter((kind) => kind === 'success').length).toBeGreaterThan(7)
  })

  it("aliases a contract's address with overflow; an EIP-7702 account keeps its own", () => {
    const call = deposit(addressOf(user), 0n, 21_000n, false, '0x')
    const high = parseAddress(`0x${'ff'.repeat(20)}`)
    const [moved] = logsOf(openContracts()({ caller: high, origin: addressOf(user), data: call }))
    expect(moved?.topics[1]).toBe(`0x${'00'.repeat(12)}1111000000000000000000000000000000001110`)
    const delegated = { address: addressOf(stranger), code: fromHex(`0xef0100${'12'.repeat(20)}`) }
    const [own] = logsOf(openContracts(delegated)({ caller: delegated.address, origin: addressOf(user), data: call }))
    expect(own?.topics[1]).toBe(`0x${'00'.repeat(12)}${addressOf(stranger).slice(2)}`)
    const alike = { address: addressOf(stranger), code: fromHex(`0xef0101${'12'.repeat(20)}`) }
    const [other] = logsOf(openContracts(alike)({ caller: alike.address, origin: addressOf(user), data: call }))
    expect(other?.topics[1]).not.toBe(own?.topics[1])
  })

  it.each([
    ['a creation with a target', deposit(addressOf(user), 0n, 100_000n, true, '0x'), 'BadTarget'],
    ['too little gas', deposit(addressOf(user), 0n, 20_999n, false, '0x'), 'GasLimitTooLow'],
    ['too little gas for its data', deposit(addressOf(user), 0n, 21_079n, false, '0x0000'), 'GasLimitTooLow'],
    ['more gas than an L2 block is certain to have', deposit(addressOf(user), 0n, 20_000_001n, false, '0x'), 'BlockGasExhausted'],
    ['too much data', deposit(addressOf(user), 0n, 10_000_000n, false, `0x${'00'.repeat(120_001)}`), 'DataTooLarge'],
  ])('refuses %s', (_what, data, name) => {
    expect(errorOf(openContracts()({ caller: addressOf(user), data }))).toBe(name)
  })

  it('accepts data and gas up to the limits, and 20,000,000 gas in one block', () => {
    const open = openContracts()
    const most = deposit(addressOf(user), 0n, 4_821_000n, false, `0x${'00'.repeat(120_000)}`)
    expect(logsOf(open({ caller: addressOf(user), data: most }))).toHaveLength(1)
    const rest = deposit(addressOf(user), 0n, 15_179_000n, false, '0x')
    expect(logsOf(open({ caller: addressOf(user), data: rest }))).toHaveLength(1)
    const more = deposit(addressOf(user), 0n, 21_000n, false, '0x')
    expect(errorOf(open({ caller: addressOf(user), data: more }))).toBe('BlockGasExhausted')
  })
})

describe('contracts/DevnetSystemConfig', () => {
  const u = (word: string, from: number, to: number): bigint => bigintFromBytes(fromHex(`0x${word}`).subarray(from, to))
  /** Call that has the effect of a recorded event, by its kind and the words of its argument. */
  const callFor = (kind: number, [first = '', second = '']: readonly string[]): string => {
    if (kind === 1 && u(second, 0, 1) === 1n)
      return configCall('setGasConfigEcotone', [Number(u(second, 28, 32)), Number(u(second, 24, 28))])
    const calls = [
      () => configCall('setBatcherHash', [`0x${first}`]),
      () => configCall('setGasConfig', [u(first, 0, 32), u(second, 0, 32)]),
      () => configCall('setGasLimit', [u(first, 0, 32)]),
      () => configCall('setUnsafeBlockSigner', [`0x${first.slice(24)}`]),
      () => configCall('setEIP1559Params', [Number(u(first, 24, 28)), Number(u(first, 28, 32))]),
      () => configCall('setOperatorFeeScalars', [Number(u(first, 20, 24)), u(first, 24, 32)]),
      () => configCall('setMinBaseFee', [u(first, 0, 32)]),
      () => configCall('setDAFootprintGasScalar', [Number(u(first, 0, 32))]),
    ]
    return calls[kind]?.() ?? expect.fail(`kind ${kind}`)
  }

  it('emits the same bytes as the system configs of the recorded chains, all eight kinds', () => {
    const kinds = new Set<number>()
    for (const { topics, data } of names.flatMap((name) => recordedLogs(name, 'l1SystemConfig'))) {
      const kind = Number(topics[2])
      const words = data.slice(2).match(/.{64}/g)?.slice(2) ?? []
      const outcome = openContracts()({ caller: addressOf(owner), to: systemConfigAddress, data: callFor(kind, words) })
      expect(logsOf(outcome).map(shown)).toEqual([{ topics, data }])
      kinds.add(kind)
    }
    expect([...kinds].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it.each([
    ['setBatcherHash', [zeroHash]],
    ['setGasConfig', [0n, 0n]],
    ['setGasConfigEcotone', [0, 0]],
    ['setGasLimit', [30_000_000n]],
    ['setUnsafeBlockSigner', [zeroAddress]],
    ['setEIP1559Params', [1, 1]],
    ['setOperatorFeeScalars', [0, 0n]],
    ['setMinBaseFee', [0n]],
    ['setDAFootprintGasScalar', [0]],
    ['transferOwnership', [zeroAddress]],
  ])('only the owner may call %s', (name, args) => {
    const data = configCall(name, args)
    const refused = openContracts()({ caller: addressOf(user), to: systemConfigAddress, data })
    expect(errorOf(refused)).toBe('NotOwner')
    expect(logsOf(openContracts()({ caller: addressOf(owner), to: systemConfigAddress, data }))).toHaveLength(1)
  })

  it.each([
    ['a gas limit below the minimum', 'setGasLimit', [20_999_999n], 'GasLimitOutOfRange'],
    ['a gas limit above the maximum', 'setGasLimit', [500_000_001n], 'GasLimitOutOfRange'],
    ['a denominator of zero', 'setEIP1559Params', [0, 1], 'ZeroParameter'],
    ['an elasticity of zero', 'setEIP1559Params', [1, 0], 'ZeroParameter'],
    ['a scalar with a version', 'setGasConfig', [0n, 1n << 248n], 'ScalarOutOfRange'],
  ])('refuses %s', (_what, name, args, error) => {
    const outcome = openContracts()({ caller: addressOf(owner), to: systemConfigAddress, data: configCall(name, args) })
    expect(errorOf(outcome)).toBe(error)
  })

  it('only the new owner may change it', () => {
    const open = openContracts()
    const to = systemConfigAddress
    const change = configCall('setMinBaseFee', [1n])
    logsOf(open({ caller: addressOf(owner), to, data: configCall('transferOwnership', [addressOf(stranger)]) }))
    expect(errorOf(open({ caller: addressOf(owner), to, data: change }))).toBe('NotOwner')
    expect(logsOf(open({ caller: addressOf(stranger), to, data: change }))).toHaveLength(1)
    const read = open({ caller: addressOf(user), to, data: configCall('minBaseFee', []) })
    expect(read.output).toEqual(bytesFromBigint(1n, 32))
  })
})

import { createRequire } from 'node:module'
import { createEVM, type EVM } from '@ethereumjs/evm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EvmRules } from '#chain/evmRules'
import type { EvmSession } from '#evm/ports'
import { createReferenceEvm } from '#evm/referenceEvm'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { addressOf, cancun, paris, prague, testAccount, testBlock, testTransaction } from '#test/harness/evm'
import { createWorld } from '#test/vectors/stateTestWorld'
import { type Address, type Hash, parseAddress } from '#types/ids'
import type { Log } from '#types/log'
import { randomProgram } from './randomProgram.ts'

type OracleAddress = Parameters<EVM['stateManager']['putCode']>[0]
type OracleAccount = NonNullable<Parameters<EVM['stateManager']['putAccount']>[1]>
type OracleOptions = NonNullable<Parameters<typeof createEVM>[0]>

// What belongs to the oracle's package is taken from beside it: it is no dependency of this one.
const beside = createRequire(createRequire(import.meta.url).resolve('@ethereumjs/evm'))
const { Account, createAddressFromString } = beside('@ethereumjs/util') as {
  Account: new (nonce: bigint, balance: bigint) => OracleAccount
  createAddressFromString(address: string): OracleAddress
}
const { Common, Mainnet } = beside('@ethereumjs/common') as {
  Common: new (options: { chain: unknown; hardfork: string }) => NonNullable<OracleOptions['common']>
  Mainnet: unknown
}

const sender = addressOf(0x11)
const [first, second] = [addressOf(0x22), addressOf(0x33)]
const known: readonly Address[] = [sender, first, second, addressOf(0x55)]
/** those that the programs call */
const precompiles = [2, 4].map((byte) => parseAddress(`0x${byte.toString(16).padStart(40, '0')}`))
const slots = Array.from({ length: 6 }, (_, i) => `0x${i.toString(16).padStart(64, '0')}` as Hash)
const filled = slots.slice(0, 3)
const startBalance = 1_000_000n
const startValue = 5n

/** of each fork; BASALT_RUNS asks for more */
const runs = Number(process.env['BASALT_RUNS'] ?? 200)

type Program = {
  readonly codes: readonly [Uint8Array, Uint8Array]
  readonly input: Uint8Array
  readonly gas: bigint
  readonly value: bigint
}
/** What both must agree on. */
type End = {
  readonly kind: string
  readonly gasUsed: bigint
  readonly gasRefund: bigint
  readonly output: string
  readonly logs: readonly Log[]
  readonly storage: readonly bigint[]
  readonly balances: readonly bigint[]
}

function runHere(rules: EvmRules, { codes, input, gas, value }: Program): End {
  const contract = (code: Uint8Array): ReturnType<typeof testAccount> =>
    testAccount({
      code: toHex(code),
      balance: `0x${startBalance.toString(16)}`,
      nonce: '0x1',
      storage: Object.fromEntries(filled.map((slot) => [slot, `0x${startValue}`])),
    })
  const pre = {
    [sender]: testAccount({ balance: `0x${startBalance.toString(16)}`, nonce: '0x1' }),
    [first]: contract(codes[0]),
    [second]: contract(codes[1]),
  }
  const session: EvmSession = createReferenceEvm().open(createWorld(pre).view, testBlock, rules)
  session.beginTransaction(testTransaction(sender))
  const outcome = session.run({ caller: sender, to: first, value, data: input, gas })
  return {
    kind: outcome.kind,
    gasUsed: gas - outcome.gasLeft,
    gasRefund: outcome.gasRefund,
    output: toHex(outcome.output),
    logs: outcome.kind === 'success' ? outcome.logs : [],
    storage: [first, second].flatMap((address) => slots.map((slot) => session.slot(address, slot))),
    balances: known.map((address) => session.account(address)?.balance ?? 0n),
  }
}

async function oracleWith(rules: EvmRules, codes: Program['codes']): Promise<EVM> {
  const evm = await createEVM({ common: new Common({ chain: Mainnet, hardfork: rules.fork }) })
  await evm.stateManager.putAccount(createAddressFromString(sender), new Account(1n, startBalance))
  for (const [i, address] of [first, second].entries()) {
    const at = createAddressFromString(address)
    await evm.stateManager.putAccount(at, new Account(1n, startBalance))
    await evm.stateManager.putCode(at, codes[i] ?? new Uint8Array(0))
    for (const slot of filled) await evm.stateManager.putStorage(at, fromHex(slot), Uint8Array.of(Number(startValue)))
  }
  evm.stateManager.originalStorageCache.clear()
  const warm = [sender, first, ...precompiles, ...(rules.fork === 'paris' ? [] : [testBlock.beneficiary])]
  for (const address of warm) evm.journal.addAlwaysWarmAddress(address, true)
  return evm
}

async function runThere(rules: EvmRules, { codes, input, gas, value }: Program): Promise<End> {
  const evm = await oracleWith(rules, codes)
  const header = {
    number: BigInt(testBlock.number),
    coinbase: createAddressFromString(testBlock.beneficiary),
    timestamp: BigInt(testBlock.timestamp),
    difficulty: 0n,
    prevRandao: fromHex(testBlock.prevRandao),
    gasLimit: testBlock.gasLimit,
    baseFeePerGas: testBlock.baseFee,
    getBlobGasPrice: () => testBlock.blobBaseFee,
  }
  const at = createAddressFromString(sender)
  const call = {
    block: { header },
    caller: at,
    origin: at,
    to: createAddressFromString(first),
    gasPrice: 10n,
    gasLimit: gas,
    data: input,
    value,
  }
  const { execResult } = await evm.runCall(call)
  const error = execResult.exceptionError?.error
  const kind = error === undefined ? 'success' : error === 'revert' ? 'revert' : 'halt'
  const storage: bigint[] = []
  for (const address of [first, second]) {
    for (const slot of slots) {
      const bytes = await evm.stateManager.getStorage(createAddressFromString(address), fromHex(slot))
      storage.push(BigInt(toHex(bytes) === '0x' ? 0 : toHex(bytes)))
    }
  }
  const balances: bigint[] = []
  for (const address of known) balances.push((await evm.stateManager.getAccount(createAddressFromString(address)))?.balance ?? 0n)
  return {
    kind,
    gasUsed: execResult.executionGasUsed,
    gasRefund: kind === 'success' ? (execResult.gasRefund ?? 0n) : 0n,
    output: kind === 'halt' ? '0x' : toHex(execResult.returnValue),
    logs: (kind === 'success' ? (execResult.logs ?? []) : []).map(([address, topics, data]) => ({
      address: toHex(address) as Address,
      topics: topics.map((topic) => toHex(topic) as Hash),
      data: Uint8Array.from(data),
    })),
    storage,
    balances,
  }
}

describe('evm/referenceEvm: random programs end as with another interpreter', () => {
  it.each([paris, cancun, prague])(
    '$fork',
    async (rules) => {
      const program = fc.record({
        codes: fc.tuple(randomProgram([first, second, addressOf(0x55)]), randomProgram([first, second, addressOf(0x55)])),
        input: fc.uint8Array({ maxLength: 70 }),
        gas: fc.constantFrom(30_000n, 100_000n, 400_000n),
        value: fc.constantFrom(0n, 1n),
      })
      await fc.assert(
        fc.asyncProperty(program, async (given) => {
          expect(runHere(rules, given)).toEqual(await runThere(rules, given))
        }),
        { numRuns: runs },
      )
    },
    3_600_000,
  )

  it('the programs are worth running: many come to a good end, and many do more than that', () => {
    const ends = fc
      .sample(randomProgram([first, second]), 200)
      .map((code) => runHere(cancun, { codes: [code, code], input: bytesFromBigint(7n, 32), gas: 100_000n, value: 0n }))
    expect(ends.filter(({ kind }) => kind === 'success').length).toBeGreaterThan(40)
    expect(ends.filter(({ gasUsed, kind }) => kind === 'success' && gasUsed > 5_000n).length).toBeGreaterThan(20)
  })
})

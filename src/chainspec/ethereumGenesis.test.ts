import { expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import { exponential } from './blobFee.ts'
import { childExcessBlobGas } from './ethereumBlobs.ts'
import { ethereumGenesisHeader, parseEthereumGenesis } from './ethereumGenesis.ts'
import { blobParamsAt, type EthereumSchedule, ethereumRulesAt, followsEthereum } from './ethereumSchedule.ts'
import { hasOldFork } from './evmRules.ts'
import { forkIdAt } from './forkId.ts'

const config = {
  chainId: 7,
  homesteadBlock: 0,
  eip150Block: 2,
  eip155Block: 4,
  eip158Block: 4,
  byzantiumBlock: 6,
  muirGlacierBlock: 8,
  londonBlock: 10,
  mergeNetsplitBlock: 12,
  shanghaiTime: 100,
  cancunTime: 200,
  osakaTime: 300,
  bpo1Time: 400,
  terminalTotalDifficulty: 131_072,
  ethash: {},
  blobSchedule: {
    cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
    bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193 },
  },
}
const file = { config, timestamp: '0x0', gasLimit: '0x1388', difficulty: '0x20000', alloc: { ['11'.repeat(20)]: { balance: '5' } } }
const scheduleOf = (changed: object = {}): EthereumSchedule => {
  const { ethereum } = parseEthereumGenesis({ ...file, config: { ...config, ...changed } }).genesis.chain?.schedule ?? {}
  if (!ethereum) throw new Error('no schedule')
  return ethereum
}
const schedule = scheduleOf()

it('chainspec/ethereumGenesis: reads fork blocks and times; a fork that only delays the difficulty bomb counts in fork ids only', () => {
  expect(schedule.blocks).toEqual({ homestead: 0, tangerineWhistle: 2, spuriousDragon: 4, byzantium: 6, london: 10, paris: 12 })
  expect(schedule.times).toEqual({ shanghai: 100, cancun: 200, osaka: 300, bpo1: 400 })
  expect(schedule.forkIdBlocks).toEqual([2, 4, 6, 8, 10, 12])
})

it.each([
  [{ number: 1, timestamp: 10 }, 'homestead', 'paris'],
  [{ number: 2, timestamp: 20 }, 'tangerineWhistle', 'paris'],
  [{ number: 9, timestamp: 90 }, 'byzantium', 'paris'],
  [{ number: 11, timestamp: 99 }, 'london', 'paris'],
  [{ number: 12, timestamp: 99 }, undefined, 'paris'],
  [{ number: 13, timestamp: 299 }, undefined, 'cancun'],
  [{ number: 14, timestamp: 500 }, undefined, 'osaka'],
])('chainspec/ethereumSchedule: selects the rules of a block at %o', (at, old, fork) => {
  const rules = ethereumRulesAt(schedule, at)
  expect([rules.old, rules.fork]).toEqual([old, fork])
  expect(hasOldFork(rules, 'london')).toBe(followsEthereum(schedule, 'london', at))
})

it('chainspec/ethereumSchedule: blob parameters hold until a later fork changes them', () => {
  expect([199, 200, 399, 400].map((time) => blobParamsAt(schedule, time)?.max)).toEqual([undefined, 6, 6, 15])
})

it.each([
  ['two halves of Spurious Dragon at different blocks', { eip158Block: 5 }, 'config.eip158Block'],
  ['an unknown fork', { bpo9Time: 5 }, 'config.bpo9Time'],
  ['a fork of an OP chain', { canyonTime: 0 }, 'config.canyonTime'],
])('chainspec/ethereumGenesis: rejects %s (INVALID_CONFIG)', (_what, changed, key) => {
  expect(() => scheduleOf(changed)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', data: expect.objectContaining({ key }) }))
})

it('chainspec/ethereumGenesis: the header has exactly the fields of the forks active at genesis', () => {
  const { genesis } = parseEthereumGenesis(file)
  const fields = (changed: object): string[] => {
    const header = ethereumGenesisHeader(scheduleOf(changed), genesis, headerOf({}).stateRoot)
    return ['baseFeePerGas', 'withdrawalsRoot', 'excessBlobGas', 'requestsHash'].filter((name) => name in header)
  }
  expect(fields({})).toEqual([])
  expect(fields({ londonBlock: 0 })).toEqual(['baseFeePerGas'])
  expect(fields({ londonBlock: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 })).toEqual([
    'baseFeePerGas',
    'withdrawalsRoot',
    'excessBlobGas',
    'requestsHash',
  ])
})

it('chainspec/forkId: counts forks by block before forks by time', () => {
  const genesis = { l2: { number: 0, hash: headerOf({}).parentHash }, l2TimeSec: 0 }
  const at = (time: number): string => forkIdAt({ schedule: { ethereum: schedule }, genesis }, time).hash
  expect(new Set([99, 100, 200, 300, 400].map(at)).size).toBe(5)
  expect(forkIdAt({ schedule: { ethereum: schedule }, genesis }, 150).next).toBe(200)
})

it.each([
  [0n, 1n, 1n],
  [2n, 1n, 6n],
  [4n, 2n, 6n],
  [3n, 1n, 16n],
  [6n, 2n, 18n],
  [4n, 1n, 49n],
  [8n, 2n, 50n],
  [5n, 1n, 136n],
  [5n, 2n, 11n],
  [50_000_000n, 2_225_652n, 5_709_098_764n],
])('chainspec/blobFee: e^(%s/%s) is %s, as in other clients', (numerator, denominator, value) => {
  expect(exponential(numerator, denominator)).toBe(value)
})

it('chainspec/ethereumBlobs: keeps the gas above the target; from Osaka on also grows while execution costs more than blobs (EIP-7918)', () => {
  const blobs = (count: number): bigint => BigInt(count) * 131_072n
  const parent = headerOf({ number: 20, timestamp: 250, blobGasUsed: blobs(6), excessBlobGas: blobs(1), baseFeePerGas: 1n })
  expect(childExcessBlobGas(schedule, parent, 260)).toBe(blobs(4))
  expect(childExcessBlobGas(schedule, { ...parent, blobGasUsed: blobs(1) }, 260)).toBe(0n)
  expect(childExcessBlobGas(schedule, parent, 310)).toBe(blobs(4))
  // 8,192 × base fee exceeds 131,072 × 1 wei: a third of the used blob gas is added, regardless of the target
  expect(childExcessBlobGas(schedule, { ...parent, baseFeePerGas: 17n }, 310)).toBe(blobs(1) + blobs(3))
  expect(childExcessBlobGas(schedule, { ...parent, baseFeePerGas: 16n }, 310)).toBe(blobs(4))
  expect(childExcessBlobGas(schedule, { ...parent, blobGasUsed: blobs(15), excessBlobGas: 0n, baseFeePerGas: 17n }, 400)).toBe(blobs(5))
})

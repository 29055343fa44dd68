import { expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import { hasOldFork } from '#test/reference/oldForks'
import { childExcessBlobGas } from './blobs.ts'
import { ethereumForkConfigs } from './forkConfigs.ts'
import { type EthereumChainSpec, parseEthereumGenesis } from './genesis.ts'
import { blobParamsAt, ethereumRulesAt, followsEthereum } from './schedule.ts'

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
const specOf = (changed: object = {}): EthereumChainSpec => parseEthereumGenesis({ ...file, config: { ...config, ...changed } })
const { schedule } = specOf()

it('ethereum/genesis: reads fork blocks and times; a fork that only delays the difficulty bomb counts in fork ids only', () => {
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
])('ethereum/schedule: selects the rules of a block at %o', (at, old, fork) => {
  const rules = ethereumRulesAt(schedule, at)
  expect([rules.old, rules.fork]).toEqual([old, fork])
  expect(hasOldFork(rules, 'london')).toBe(followsEthereum(schedule, 'london', at))
})

it('ethereum/schedule: blob parameters hold until a later fork changes them', () => {
  expect([199, 200, 399, 400].map((time) => blobParamsAt(schedule, time)?.max)).toEqual([undefined, 6, 6, 15])
})

it.each([
  ['two halves of Spurious Dragon at different blocks', { eip158Block: 5 }, 'config.eip158Block'],
  ['an unknown fork', { bpo9Time: 5 }, 'config.bpo9Time'],
  ['a fork of an OP chain', { canyonTime: 0 }, 'config.canyonTime'],
])('ethereum/genesis: rejects %s (INVALID_CONFIG)', (_what, changed, key) => {
  expect(() => specOf(changed)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', data: expect.objectContaining({ key }) }))
})

it('ethereum/genesis: the header has exactly the fields of the forks active at genesis', () => {
  const fields = (changed: object): string[] => {
    const { header } = specOf(changed).genesis
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

it('ethereum/forkConfigs: counts forks by block before forks by time', () => {
  const configs = ethereumForkConfigs(specOf())
  expect(new Set([99, 100, 200, 300, 400].map((time) => configs.at(time).forkId)).size).toBe(5)
  expect(configs.activations.find((time) => time > 150)).toBe(200)
})

it('ethereum/blobs: keeps the gas above the target; from Osaka on also grows while execution costs more than blobs (EIP-7918)', () => {
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

import { expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import type { Header } from '#types/header'
import { emptyRequestsHash, zeroHash } from '#types/ids'
import { type BlobFeeRules, blobBaseFee, exponential, verifyBlobGas } from './blobFee.ts'

const cancun = 3_338_477
const prague = 5_007_716
const bpo1 = 8_346_193
const bpo2 = 11_684_671

const blockOf = (fields: Partial<Header>) => ({
  header: headerOf(fields),
  ref: { number: 1, hash: zeroHash, parentHash: zeroHash, timestamp: 0 },
})

const mainnet: BlobFeeRules = { l1ChainId: 1 }
const sepolia: BlobFeeRules = { l1ChainId: 11_155_111, pectraBlobScheduleTimeSec: 1_742_486_400 }

it('chainspec/blobFee: is 1 wei before blobs and at zero excess', () => {
  expect(blobBaseFee(mainnet, headerOf({ timestamp: 1_700_000_000 }))).toBe(1n)
  expect(blobBaseFee(mainnet, headerOf({ timestamp: 1_800_000_000, excessBlobGas: 0n }))).toBe(1n)
})

// values of EIP-4844's reference implementations
it.each([
  [2_314_057n, 1n],
  [2_314_058n, 2n],
  [10n * 1024n * 1024n, 23n],
])('chainspec/blobFee: an excess of %i costs %i wei per blob gas under Cancun', (excessBlobGas, fee) => {
  expect(blobBaseFee({ l1ChainId: 900 }, headerOf({ timestamp: 1_800_000_000, excessBlobGas }))).toBe(fee)
})

it.each([
  ['mainnet before Prague', mainnet, 1_746_612_310, false, cancun],
  ['mainnet from Prague', mainnet, 1_746_612_311, true, prague],
  ['mainnet in Osaka', mainnet, 1_765_290_070, true, prague],
  ['mainnet from BPO1', mainnet, 1_765_290_071, true, bpo1],
  ['mainnet from BPO2', mainnet, 1_767_747_671, true, bpo2],
  ["Sepolia in Prague before the rollup's own activation time", sepolia, 1_742_486_399, true, cancun],
  ["Sepolia from the rollup's own activation time on", sepolia, 1_742_486_400, true, prague],
  ['Sepolia from BPO2', sepolia, 1_761_607_008, true, bpo2],
  ['an unknown L1 with requests', { l1ChainId: 900 }, 1_800_000_000, true, prague],
] as const)('chainspec/blobFee: uses the update fraction of %s', (_what, rules, timestamp, hasRequests, fraction) => {
  const excessBlobGas = 30_000_000n
  const l1 = headerOf({ timestamp, excessBlobGas, ...(hasRequests && { requestsHash: emptyRequestsHash }) })
  expect(Number(blobBaseFee(rules, l1))).toBe(Math.floor(Math.exp(30_000_000 / fraction)))
})

const blob = 131_072n
const low = { baseFeePerGas: 1n }
/** Costs more than blobs do: 8,192 × the base fee is above 131,072 wei. */
const high = { baseFeePerGas: 1_000n }
const bpo3 = { fromSec: 1_780_000_000, target: 21, max: 32, updateFraction: 20_609_697n }

// expected values by hand, from EIP-4844, EIP-7691 and EIP-7918
it.each<[string, BlobFeeRules, Partial<Header>, Partial<Header>]>([
  ['before Cancun', mainnet, {}, { timestamp: 1_700_000_000 }],
  ['in the first block of Cancun', mainnet, {}, { timestamp: 1_710_338_135, excessBlobGas: 0n, blobGasUsed: 6n * blob }],
  ['below the target', mainnet, { excessBlobGas: blob, blobGasUsed: blob }, { timestamp: 1_720_000_000, excessBlobGas: 0n }],
  ['above the target', mainnet, { excessBlobGas: blob, blobGasUsed: 6n * blob }, { timestamp: 1_720_000_000, excessBlobGas: 4n * blob }],
  [
    'by the parameters of Prague',
    mainnet,
    { excessBlobGas: 0n, blobGasUsed: 9n * blob },
    { timestamp: 1_746_612_311, excessBlobGas: 3n * blob },
  ],
  [
    'in Osaka, cheap blobs',
    mainnet,
    { ...high, excessBlobGas: 0n, blobGasUsed: 9n * blob },
    { timestamp: 1_764_798_551, excessBlobGas: 3n * blob },
  ],
  [
    'in BPO2',
    mainnet,
    { ...low, excessBlobGas: 2n * blob, blobGasUsed: 21n * blob },
    { timestamp: 1_767_747_671, excessBlobGas: 9n * blob },
  ],
  [
    'in BPO2, cheap blobs',
    mainnet,
    { ...high, excessBlobGas: 2n * blob, blobGasUsed: 21n * blob },
    { timestamp: 1_767_747_671, excessBlobGas: 9n * blob },
  ],
  [
    'in BPO2, cheap blobs below the maximum',
    mainnet,
    { ...high, excessBlobGas: 2n * blob, blobGasUsed: 15n * blob },
    { timestamp: 1_767_747_671, excessBlobGas: 7n * blob },
  ],
  [
    'by a schedule of the operator',
    { ...mainnet, l1BlobSchedule: { changes: [bpo3] } },
    { ...low, excessBlobGas: 0n, blobGasUsed: 32n * blob },
    { timestamp: 1_780_000_000, excessBlobGas: 11n * blob, blobGasUsed: 32n * blob },
  ],
  ['on an unknown L1, without excess', { l1ChainId: 900 }, { excessBlobGas: 0n, blobGasUsed: 8n * blob }, { excessBlobGas: 0n }],
  ['on an unknown L1', { l1ChainId: 900 }, { excessBlobGas: 0n, blobGasUsed: 6n * blob }, { excessBlobGas: 3n * blob }],
  [
    'on an unknown L1 in Osaka',
    { l1ChainId: 900 },
    { ...high, excessBlobGas: blob, blobGasUsed: 6n * blob },
    { excessBlobGas: 3n * blob, requestsHash: emptyRequestsHash },
  ],
])('chainspec/blobFee: explains a block %s', (_what, rules, parent, child) => {
  expect(() => verifyBlobGas(rules, headerOf(parent), blockOf(child))).not.toThrow()
})

it.each<[string, BlobFeeRules, Partial<Header>, Partial<Header>]>([
  ['with another excess', mainnet, { ...low, excessBlobGas: 0n, blobGasUsed: 21n * blob }, { timestamp: 1_780_000_000, excessBlobGas: 0n }],
  ['with more blobs than the maximum', mainnet, {}, { timestamp: 1_780_000_000, excessBlobGas: 0n, blobGasUsed: 22n * blob }],
  ['with blob gas before Cancun', mainnet, {}, { timestamp: 1_700_000_000, excessBlobGas: 0n }],
  [
    'on an unknown L1 with a later schedule',
    { l1ChainId: 900 },
    { ...low, excessBlobGas: 0n, blobGasUsed: 15n * blob },
    { excessBlobGas: 5n * blob, requestsHash: emptyRequestsHash },
  ],
])('chainspec/blobFee: refuses a block %s (L1_BLOB_SCHEDULE)', (_what, rules, parent, child) => {
  expect(() => verifyBlobGas(rules, headerOf(parent), blockOf(child))).toThrow(
    expect.objectContaining({ code: 'L1_BLOB_SCHEDULE', severity: 'fatal' }),
  )
})

it('chainspec/blobFee: prices blobs by the schedule of the operator', () => {
  const rules = { ...mainnet, l1BlobSchedule: { changes: [bpo3] } }
  const excessBlobGas = 60_000_000n
  expect(blobBaseFee(rules, headerOf({ timestamp: bpo3.fromSec, excessBlobGas }))).toBe(
    BigInt(Math.floor(Math.exp(60_000_000 / 20_609_697))),
  )
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

import { expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import { emptyRequestsHash } from '#types/ids'
import { type BlobFeeRules, blobBaseFee } from './blobFee.ts'

const cancun = 3_338_477
const prague = 5_007_716
const bpo1 = 8_346_193
const bpo2 = 11_684_671

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
  ["Sepolia from the rollup's own time", sepolia, 1_742_486_400, true, prague],
  ['Sepolia from BPO2', sepolia, 1_761_607_008, true, bpo2],
  ['an unknown L1 with requests', { l1ChainId: 900 }, 1_800_000_000, true, prague],
] as const)('chainspec/blobFee: uses the update fraction of %s', (_what, rules, timestamp, hasRequests, fraction) => {
  const excessBlobGas = 30_000_000n
  const l1 = headerOf({ timestamp, excessBlobGas, ...(hasRequests && { requestsHash: emptyRequestsHash }) })
  expect(Number(blobBaseFee(rules, l1))).toBe(Math.floor(Math.exp(30_000_000 / fraction)))
})

import { expect, it } from 'vitest'
import { knownBlobSchedules, parseBlobSchedule } from './blobSchedule.ts'

const cancun = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 }
const prague = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 }
const bpo1 = { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193 }
const bpo2 = { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 }

/** Chain config of Hoodi in go-ethereum's format. */
const hoodi = {
  ...{ chainId: 560_048, homesteadBlock: 0, berlinBlock: 0, londonBlock: 0, mergeNetsplitBlock: 0, terminalTotalDifficulty: 0 },
  ...{
    shanghaiTime: 0,
    cancunTime: 0,
    pragueTime: 1_742_999_832,
    osakaTime: 1_761_677_592,
    bpo1Time: 1_762_365_720,
    bpo2Time: 1_762_955_544,
  },
  depositContractAddress: '0x00000000219ab540356cBB839Cbe05303d7705Fa',
  ethash: {},
  blobSchedule: { cancun, prague, osaka: prague, bpo1, bpo2 },
}

it.each([
  ['a chain config', hoodi],
  ['a genesis file', { config: hoodi, alloc: {}, difficulty: '0x1' }],
  ['a chain config without an entry of Osaka', { ...hoodi, blobSchedule: { cancun, prague, bpo1, bpo2 } }],
])('chainspec/blobSchedule: reads %s', (_what, json) => {
  const schedule = parseBlobSchedule(json, 560_048)
  expect(schedule.osakaSec).toBe(1_761_677_592)
  const { changes = [] } = knownBlobSchedules[560_048] ?? {}
  for (const change of changes) expect(schedule.changes.findLast(({ fromSec }) => change.fromSec >= fromSec)).toEqual(change)
})

it('chainspec/blobSchedule: applies the last of several forks at the same time, and accepts any fork name', () => {
  const glamsterdam = { target: 21, max: 32, baseFeeUpdateFraction: 20_609_697 }
  const json = {
    ...{ chainId: 900, cancunTime: 0, pragueTime: 0, osakaTime: 0, amsterdamTime: 100 },
    blobSchedule: { prague, amsterdam: glamsterdam, cancun, bpo1, bpo5: null },
  }
  const schedule = parseBlobSchedule(json, 900)
  expect(schedule.changes.map(({ fromSec, max }) => [fromSec, max])).toEqual([
    [0, 6],
    [0, 9],
    [100, 32],
  ])
  expect(schedule.osakaSec).toBe(0)
})

it.each([
  ['another chain id', { ...hoodi, chainId: 1 }, 'chainId'],
  ['no blob schedule', { ...hoodi, blobSchedule: undefined }, 'blobSchedule'],
  ['a fork without its parameters', { ...hoodi, bpo3Time: 1_800_000_000 }, 'blobSchedule.bpo3'],
  ['no fork time', { chainId: 560_048, blobSchedule: { cancun } }, 'blobSchedule'],
  ['a malformed time', { ...hoodi, bpo2Time: '1762955544' }, 'bpo2Time'],
  [
    'a fraction of zero',
    { ...hoodi, blobSchedule: { ...hoodi.blobSchedule, bpo2: { ...bpo2, baseFeeUpdateFraction: 0 } } },
    'blobSchedule.bpo2',
  ],
  ['no object', 7, 'the document'],
])('chainspec/blobSchedule: rejects a file with %s (INVALID_CONFIG)', (_what, json, key) => {
  const data = expect.objectContaining({ key: expect.stringContaining(key) })
  expect(() => parseBlobSchedule(json, 560_048)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', data }))
})

import { expect, it } from 'vitest'
import { type BlobSchedule, cancunBlobs, knownBlobSchedules, pragueBlobs } from './blobSchedule.ts'
import { blobDifference, parseReportedBlobs } from './reportedBlobs.ts'

const mainnet = knownBlobSchedules[1] ?? expect.fail()
const bpo1 = { target: 10, max: 15, updateFraction: 8_346_193n }
const bpo2 = { target: 14, max: 21, updateFraction: 11_684_671n }
const bpo3 = { target: 20, max: 30, updateFraction: 16_692_387n }
const [osakaSec, bpo1Sec, bpo2Sec, bpo3Sec] = [1_764_798_551, 1_765_290_071, 1_767_747_671, 1_800_000_000]

const forkOf = (activationTime: number, { target, max, updateFraction }: typeof bpo1, chainId = '0x1') => ({
  activationTime,
  blobSchedule: { baseFeeUpdateFraction: Number(updateFraction), max, target },
  ...{ chainId, forkId: '0x5167e2a6', precompiles: { ECREC: '0x0000000000000000000000000000000000000001' }, systemContracts: {} },
})
/** Values that clients returned for mainnet between Osaka and BPO1. */
const osaka = { current: forkOf(osakaSec, pragueBlobs), next: forkOf(bpo1Sec, bpo1), last: forkOf(bpo2Sec, bpo2) }
const latest = { current: forkOf(bpo2Sec, bpo2), next: null, last: null }
const ahead = { ...latest, next: forkOf(bpo3Sec, bpo3), last: forkOf(bpo3Sec, bpo3) }
const withBpo3: BlobSchedule = { ...mainnet, changes: [...mainnet.changes, { fromSec: bpo3Sec, ...bpo3 }] }
const withBpo4: BlobSchedule = { ...withBpo3, changes: [...withBpo3.changes, { fromSec: bpo3Sec + 9, ...bpo1 }] }
const parsed = (json: unknown, chainId = 1) => parseReportedBlobs(json, chainId) ?? expect.fail('malformed')

it.each<[string, unknown, BlobSchedule | undefined]>([
  ['the schedule that clients reported for mainnet before BPO1', osaka, mainnet],
  ['the same after BPO2', latest, mainnet],
  ['a next fork that is configured', ahead, withBpo3],
  ['a configured fork after the last reported one', { ...latest, last: forkOf(bpo3Sec, bpo3) }, withBpo4],
  ['Prague on an L1 without a schedule', { current: forkOf(0, pragueBlobs) }, undefined],
  ['Cancun on an L1 without a schedule', { current: forkOf(0, cancunBlobs), next: forkOf(9, pragueBlobs) }, undefined],
  ['a fork without blobs', { current: { ...forkOf(0, cancunBlobs), blobSchedule: null } }, mainnet],
  ['a fork with zeros for no blobs', { current: forkOf(0, { target: 0, max: 0, updateFraction: 0n }) }, mainnet],
  [
    'a syncing endpoint, forks behind',
    { ...osaka, current: forkOf(1_710_338_135, cancunBlobs), next: forkOf(1_746_612_311, pragueBlobs) },
    mainnet,
  ],
])('chainspec/reportedBlobs: finds no difference: %s', (_what, json, schedule) => {
  expect(blobDifference(schedule, parsed(json))).toBeUndefined()
})

it.each<[string, unknown, BlobSchedule | undefined, object]>([
  ['next', ahead, mainnet, { atSec: bpo3Sec, reported: bpo3, inUse: [{ ...bpo2, fromSec: bpo2Sec }] }],
  ['last', { ...osaka, last: forkOf(bpo3Sec, bpo3) }, mainnet, { atSec: bpo3Sec, reported: bpo3 }],
  ['current', { current: forkOf(bpo3Sec, bpo3) }, mainnet, { atSec: bpo3Sec, reported: bpo3 }],
  ['a fraction only', { current: forkOf(bpo2Sec, { ...bpo2, updateFraction: 11_684_672n }) }, mainnet, { atSec: bpo2Sec }],
  ['an earlier time', { ...latest, next: forkOf(bpo3Sec - 1, bpo3) }, withBpo3, { atSec: bpo3Sec - 1, reported: bpo3 }],
  ['a later time', { ...latest, next: forkOf(bpo3Sec + 1, bpo3) }, withBpo3, { atSec: bpo3Sec, reported: bpo2 }],
  ['a configured fork that is not reported', latest, withBpo3, { atSec: bpo3Sec, reported: bpo2 }],
  ['blobs before the first fork in use', { current: forkOf(5, cancunBlobs) }, mainnet, { atSec: 5, inUse: [] }],
  ['BPO1 on an L1 without a schedule', { current: forkOf(0, bpo1) }, undefined, { inUse: [cancunBlobs, pragueBlobs] }],
])('chainspec/reportedBlobs: finds the earliest difference: %s', (_what, json, schedule, difference) => {
  expect(blobDifference(schedule, parsed(json))).toMatchObject(difference)
})

it.each<[string, unknown]>([
  ['null', null],
  ['text', 'eth_config'],
  ['no current fork', { next: null, last: null }],
  ['another chain id', { current: forkOf(bpo2Sec, bpo2, '0xaa36a7') }],
  ['a next fork of another chain', { ...latest, next: forkOf(bpo3Sec, bpo3, '0x2') }],
  ['forks out of order', { ...osaka, next: osaka.last, last: osaka.next }],
  ['a time as text', { current: { ...osaka.current, activationTime: '0x692f5a97' } }],
  ['a negative target', { current: forkOf(bpo2Sec, { ...bpo2, target: -1 }) }],
  ['a number beyond 2^53', { current: forkOf(bpo2Sec, { ...bpo2, updateFraction: 2n ** 60n }) }],
  ['a list as schedule', { current: { ...osaka.current, blobSchedule: [] } }],
])('chainspec/reportedBlobs: rejects %s', (_what, json) => {
  expect(parseReportedBlobs(json, 1)).toBeUndefined()
})

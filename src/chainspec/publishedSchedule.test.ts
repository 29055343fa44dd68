import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { forkScheduleContractOf, networkOf } from './networks.ts'
import {
  decodeProtocolVersion,
  decodeSchedule,
  differsFrom,
  forkDifferences,
  isAboveKnown,
  nextUnknownFork,
  publishedForks,
  scheduleCalls,
} from './publishedSchedule.ts'

/** Times that the contracts of both networks publish, by id. */
const mainnet = [
  1_686_789_347, 1_704_992_401, 1_708_560_000, 1_710_374_401, 1_720_627_201, 1_726_070_401, 1_736_445_601, 0, 1_746_806_401, 1_764_691_201,
  1_779_991_200, 1_782_410_400, 1_790_791_200, 1_793_901_600,
]
const sepolia = [
  1_695_768_288, 1_699_981_200, 1_703_203_200, 1_708_534_800, 1_716_998_400, 1_723_478_400, 1_732_633_200, 1_742_486_400, 1_744_905_600,
  1_763_568_001, 1_776_708_000, 1_781_805_600, 1_790_186_400, 1_792_605_600,
]
const { config } = networkOf('base')

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0')
const list = (...times: readonly (number | bigint)[]): string => `0x${[32, times.length, ...times].map(word).join('')}`

it('chainspec/publishedSchedule: the built-in times of both networks are the published ones', () => {
  expect(forkDifferences(config, mainnet)).toEqual([])
  expect(forkDifferences(networkOf('base-sepolia').config, sepolia)).toEqual([])
  expect(publishedForks).toHaveLength(mainnet.length)
})

it('chainspec/publishedSchedule: knows the contract of Base, none of Base Sepolia, and of other chains that of the rollup config', () => {
  expect(forkScheduleContractOf(config)).toBe('0x7480afc8d99a5c645c247db5a1e4a4f440e6e095')
  expect(forkScheduleContractOf(networkOf('base-sepolia').config)).toBeUndefined()
  const { protocolVersions = expect.fail(), ...without } = config
  expect(forkScheduleContractOf({ ...config, l2ChainId: 901 })).toBe(protocolVersions)
  expect(forkScheduleContractOf({ ...without, l2ChainId: 901 })).toBeUndefined()
  expect(forkScheduleContractOf({ ...without, l2ChainId: 901, protocolVersions: `0x${'00'.repeat(20)}` as never })).toBeUndefined()
})

it('chainspec/publishedSchedule: selectors are those of the signatures', () => {
  for (const [name, selector] of Object.entries(scheduleCalls)) {
    expect(toHex(keccak256Text(`${name}()`).subarray(0, 4))).toBe(selector)
  }
})

it.each<[string, readonly number[], readonly object[]]>([
  ['another time', mainnet.with(13, 1_800_000_000), [{ fork: 'denim', builtInSec: 1_793_901_600, publishedSec: 1_800_000_000 }]],
  ['no time for a built-in fork', mainnet.with(12, 0), [{ fork: 'cobalt', builtInSec: 1_790_791_200 }]],
  [
    'a list that ends before built-in forks',
    mainnet.slice(0, 12),
    [
      { fork: 'cobalt', builtInSec: 1_790_791_200 },
      { fork: 'denim', builtInSec: 1_793_901_600 },
    ],
  ],
  ['a time for a fork that is not scheduled', mainnet.with(7, 5), [{ fork: 'pectraBlobSchedule', publishedSec: 5 }]],
  [
    'a later time for a fork that genesis has',
    mainnet.with(0, 1_686_789_348),
    [{ fork: 'regolith', builtInSec: 0, publishedSec: 1_686_789_348 }],
  ],
  ['0 for a fork that genesis has', mainnet.with(0, 0), []],
  ['nothing', [], []],
])('chainspec/publishedSchedule: compares with the built-in times: %s', (_what, times, differences) => {
  expect(forkDifferences(config, times)).toEqual(differences)
})

it('chainspec/publishedSchedule: rules differ from the earlier of both times on', () => {
  expect(differsFrom({ fork: 'denim', builtInSec: 7, publishedSec: 5 })).toBe(5)
  expect(differsFrom({ fork: 'denim', builtInSec: 7 })).toBe(7)
  expect(differsFrom({ fork: 'denim', publishedSec: 9 })).toBe(9)
})

it('chainspec/publishedSchedule: finds the earliest fork with an id above the known ones', () => {
  expect(nextUnknownFork(mainnet)).toBeUndefined()
  expect(nextUnknownFork([...mainnet, 0, 0])).toBeUndefined()
  expect(nextUnknownFork([...mainnet, 0, 1_900_000_000, 1_850_000_000])).toEqual({
    ...{ fork: '16 of the schedule on L1', activationSec: 1_850_000_000 },
  })
})

it.each<[string, unknown, readonly number[] | undefined]>([
  ['the times of Base', list(...mainnet), mainnet],
  [
    'upper case',
    list(...mainnet)
      .toUpperCase()
      .replace('0X', '0x'),
    mainnet,
  ],
  ['no forks', list(), []],
  ['an empty result, as of a contract without code', '0x', []],
  ['256 forks', list(...Array<number>(256).fill(3)), Array<number>(256).fill(3)],
  ['a time beyond the safe integers', list(2n ** 64n - 1n), [Number.MAX_SAFE_INTEGER]],
  ['257 forks', list(...Array<number>(257).fill(3)), undefined],
  ['a length without elements', `0x${word(32)}${word(2n ** 40n)}`, undefined],
  ['fewer elements than the length', `0x${word(32)}${word(3)}${word(1)}${word(2)}`, undefined],
  ['more elements than the length', `0x${word(32)}${word(1)}${word(1)}${word(2)}`, undefined],
  ['another offset', `0x${word(64)}${word(0)}`, undefined],
  ['an element above 64 bits', list(2n ** 64n), undefined],
  ['a length above 64 bits', `0x${word(32)}${word(2n ** 64n)}`, undefined],
  ['half a word', `0x${word(32)}${word(0)}00`, undefined],
  ['one word', `0x${word(32)}`, undefined],
  ['an odd number of digits', '0x0', undefined],
  ['no hex', '0xzz', undefined],
  ['a megabyte', `0x${'00'.repeat(1_048_576)}`, undefined],
  ['null', null, undefined],
  ['an object', { length: 2 }, undefined],
])('chainspec/publishedSchedule: decodes getSchedule() with %s', (_what, result, times) => {
  expect(decodeSchedule(result)).toEqual(times)
})

it.each<[string, unknown, readonly number[] | undefined, boolean]>([
  ['1.4.2', `0x${word((1n << 96n) | (4n << 64n) | (2n << 32n))}`, [1, 4, 2, 0], false],
  [
    '1.5.7 of a build',
    `0x${'ab'.repeat(8)}${'00'.repeat(8)}${word((1n << 96n) | (5n << 64n) | (7n << 32n)).slice(32)}`,
    [1, 5, 7, 0],
    false,
  ],
  ['1.6.0', `0x${word((1n << 96n) | (6n << 64n))}`, [1, 6, 0, 0], true],
  ['2.0.0-1', `0x${word((2n << 96n) | 1n)}`, [2, 0, 0, 1], true],
  ['zero: none', `0x${word(0)}`, undefined, false],
  ['no result', '0x', undefined, false],
  ['two words', `0x${word(1)}${word(1)}`, undefined, false],
  ['text', 'v1.6.0', undefined, false],
])('chainspec/publishedSchedule: decodes minimumProtocolVersion() with %s', (_what, result, expected, isAbove) => {
  const version = decodeProtocolVersion(result)
  expect(version && [version.major, version.minor, version.patch, version.preRelease]).toEqual(expected)
  expect(version !== undefined && isAboveKnown(version)).toBe(isAbove)
})

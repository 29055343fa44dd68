import { expect, it } from 'vitest'
import type { FlagName } from './flags.ts'
import { readFlags } from './readFlags.ts'

const read = (flag: FlagName, text: string): unknown => readFlags([flag], { [flag]: text }, {})[flag]

it.each<[FlagName, string, unknown]>([
  ['block-time', '1s', 1_000],
  ['block-time', '2', 2_000],
  ['block-time', '2000ms', 2_000],
  ['block-time', '200ms', 200],
  ['l1-block-time', '12s', 12_000],
  ['value', '1.5ether', 1_500_000_000_000_000_000n],
  ['value', '0.000000000000000001ETH', 1n],
  ['value', '20gwei', 20_000_000_000n],
  ['value', '7', 7n],
  ['value', '7wei', 7n],
  ['to', `0x${'Ab'.repeat(20)}`, `0x${'ab'.repeat(20)}`],
  ['data', '0x', '0x'],
  ['data', '0xAB01', '0xab01'],
  ['amount', '1.5', '1.5'],
  ['id', '72057594037927938', 72_057_594_037_927_938n],
  ['id', '0x100000000000002', 72_057_594_037_927_938n],
  ['id', '18446744073709551615', 2n ** 64n - 1n],
  ['decimals', '18', 18],
  ['salt', `0x${'Ab'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  ['l1', 'memory', 'memory'],
  ['accounts', '100', 100],
])('cli/devnetFlags: parses --%s %s', (flag, text, value) => {
  expect(read(flag, text)).toBe(value)
})

it.each<[FlagName, string]>([
  ['block-time', '3s'],
  ['block-time', '1.5s'],
  ['block-time', '0'],
  ['block-time', '2m'],
  ['l1-block-time', '500ms'],
  ['l1-block-time', '61s'],
  ['value', '1.5'],
  ['value', '-1ether'],
  ['value', '0.0000000000000000001ether'],
  ['value', '1 ether'],
  ['value', 'ether'],
  ['to', '0x1234'],
  ['to', 'vitalik.eth'],
  ['data', '0x123'],
  ['data', 'abcd'],
  ['amount', '1.5ether'],
  ['amount', '-1'],
  ['amount', '1.'],
  ['id', '18446744073709551616'],
  ['id', '-1'],
  ['id', '0x'],
  ['decimals', '5'],
  ['decimals', '19'],
  ['salt', '0x12'],
  ['currency', 'usd'],
  ['account', `0x${'ab'.repeat(20)},0x12`],
  ['scope', 'seize'],
  ['type', 'union'],
  ['l1', 'geth'],
  ['accounts', '101'],
  ['chain-id', '0'],
  ['chain-id', '0x385'],
])('cli/devnetFlags: refuses --%s %s by name (BAD_FLAG)', (flag, text) => {
  expect(() => read(flag, text)).toThrow(expect.objectContaining({ code: 'BAD_FLAG', message: expect.stringContaining(`--${flag}`) }))
})

it('cli/devnetFlags: does not show the words of a mnemonic (BAD_FLAG)', () => {
  expect(() => read('mnemonic', '')).toThrow(expect.objectContaining({ code: 'BAD_FLAG', message: expect.not.stringContaining('""') }))
})

import { expect, it } from 'vitest'
import { fromUnits, inUnits } from './units.ts'

it.each([
  [0n, 18, '0'],
  [1n, 18, '0.000000000000000001'],
  [10n ** 18n, 18, '1'],
  [1_500_000_000_000_000_000n, 18, '1.5'],
  [10_000n * 10n ** 18n - 1n, 18, '9999.999999999999999999'],
  [1_000_001n, 6, '1.000001'],
  [2n ** 256n - 1n, 0, String(2n ** 256n - 1n)],
])('cli/devnet/units: %d with %d digits is %s', (amount, digits, text) => {
  expect(inUnits(amount, digits)).toBe(text)
  expect(fromUnits(text, digits)).toBe(amount)
})

it('cli/devnet/units: refuses more digits than the token has (BAD_FLAG)', () => {
  expect(() => fromUnits('1.0000001', 6)).toThrow(
    expect.objectContaining({ code: 'BAD_FLAG', message: expect.stringContaining('--amount') }),
  )
})

it('cli/devnet/units: refuses an amount of more than 256 bits (BAD_FLAG)', () => {
  for (const [text, digits] of [
    [String(2n ** 256n), 0],
    [`1${'0'.repeat(60)}`, 18],
  ] as const) {
    expect(() => fromUnits(text, digits)).toThrow(
      expect.objectContaining({ code: 'BAD_FLAG', message: expect.stringContaining('--amount') }),
    )
  }
})

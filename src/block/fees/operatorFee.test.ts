import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { daFootprint } from './daFootprint.ts'
import { operatorFee, operatorFeeRuleAt } from './operatorFee.ts'

const params = { scalar: 5000n, constant: 1_000_000n }
const maxGas = (1n << 64n) - 1n

it.each([
  ['no fee', 'none', 21_000n, 0n],
  ['Isthmus, millionths, rounded down', 'isthmus', 21_001n, 1_000_105n],
  ['Isthmus, only the constant for zero gas', 'isthmus', 0n, 1_000_000n],
  ['Jovian, hundreds', 'jovian', 21_000n, 10_501_000_000n],
  ['Jovian, the largest gas', 'jovian', maxGas, maxGas * 500_000n + 1_000_000n],
] as const)('block/fees/operatorFee: computes the fee: %s', (_what, rule, gas, fee) => {
  expect(operatorFee(rule, params, gas)).toBe(fee)
})

it.each([
  [19, 'none'],
  [20, 'isthmus'],
  [29, 'isthmus'],
  [30, 'jovian'],
])('block/fees/operatorFee: chooses by time: at %i the rule is %s', (time, rule) => {
  expect(operatorFeeRuleAt({ isthmus: 20, jovian: 30 }, time)).toBe(rule)
})

/** Transaction 0x073fcab0… of a recorded Jovian chain. Its receipt has 0xa8c0; the shortest transaction of the chain has 0x9c40. */
it('block/fees/daFootprint: multiplies whole bytes of the estimated size, at least 100, by the scalar', () => {
  expect(daFootprint(fromHex('0x00'), 400n)).toBe(0x9c40n)
  const withdrawal = fromHex(
    '0x02f9011683015f92118411e1a3008504a817c8008307a120944200000000000000000000000000000000000016820352b8a4c2b3e5ac00000000000000000000000090f79bf6eb2c4f870365e785982e1f101e93b90600000000000000000000000000000000000000000000000000000000000186a00000000000000000000000000000000000000000000000000000000000000060000000000000000000000000000000000000000000000000000000000000000f7769746864726177203532383936320000000000000000000000000000000000c080a05073ac7e3d010836b93f4e53e245f724332a621c3b23af14afb035f10c8b32bca031d7550d76c8475d1c6e575cd8548cbbfb699be2d6beebd5410ff63b23732448',
  )
  expect(daFootprint(withdrawal, 400n)).toBe(0xa8c0n)
})

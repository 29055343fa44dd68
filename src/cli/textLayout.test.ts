import { expect, it } from 'vitest'
import { columns, count, fieldLines, size, spanText } from './textLayout.ts'

it('cli/textLayout: aligns columns, and keeps foreign text in its cell', () => {
  expect(
    columns(
      [
        ['a', 'bb'],
        ['ccc', 'd\ne\u001b[2J'],
      ],
      ['right'],
    ),
  ).toBe('  a  bb\nccc  d e [2J\n')
  expect(
    fieldLines([
      ['one', 'x'],
      ['three', ['y', 'z']],
    ]),
  ).toBe('one    x\nthree  y\n       z\n')
})

it.each<[number, string]>([
  [0.34, '0.3 s'],
  [12.4, '12 s'],
  [119, '119 s'],
  [150, '2.5 min'],
  [7_200, '2 h'],
  [2_937_600, '34 d'],
  [86_400 * 4_000, '4,000 d'],
])('cli/textLayout: formats %d s as %s', (seconds, text) => {
  expect(spanText(seconds)).toBe(text)
})

it('cli/textLayout: formats counts and sizes', () => {
  expect([count(1_234_567.4), count(2n ** 70n)]).toEqual(['1,234,567', '1,180,591,620,717,411,303,424'])
  expect([size(999), size(1_500), size(2.4e12)]).toEqual(['999 B', '1.5 kB', '2.4 TB'])
})

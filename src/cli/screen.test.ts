import { expect, it } from 'vitest'
import { bold, columnsOf, cut, fitted, openScreen } from './screen.ts'
import type { Terminal } from './terminal.ts'

const nothing: Disposable = { [Symbol.dispose]() {} }
const terminalOf = (columns: number, rows: number): Terminal => ({
  size: () => ({ columns, rows }),
  onResize: () => nothing,
  onKeys: () => nothing,
})

it('cli/screen: draws the lines that fit, each on a cleared line, and clears the rows below only if there are some', () => {
  const frame = (rows: number) => {
    const written: string[] = []
    openScreen(terminalOf(5, rows), { write: (text) => void written.push(text) }).draw(['one', 'a long line', 'three'])
    return written.at(-1)
  }
  expect(frame(2)).toBe('\u001b[?2026h\u001b[H\u001b[2Kone\r\n\u001b[2Ka lo…\u001b[0m\u001b[?2026l')
  expect(frame(4)).toBe('\u001b[?2026h\u001b[H\u001b[2Kone\r\n\u001b[2Ka lo…\u001b[0m\r\n\u001b[2Kthree\r\n\u001b[J\u001b[?2026l')
})

it('cli/screen: restores the terminal when it is disposed of', () => {
  const written: string[] = []
  {
    using _screen = openScreen(terminalOf(80, 24), { write: (text) => void written.push(text) })
  }
  expect(written).toEqual(['\u001b[?1049h\u001b[?25l\u001b[?7l', '\u001b[?7h\u001b[?25h\u001b[?1049l'])
})

it('cli/screen: measures and cuts by columns: wide characters take two, styles none', () => {
  expect([columnsOf('日本'), columnsOf(bold('ab')), columnsOf('é')]).toEqual([4, 2, 1])
  expect(cut('日本語', 5)).toBe('日本…\u001b[0m')
  expect([fitted('ab', 4), fitted('ab', 4, 'right'), columnsOf(fitted('日本語', 4))]).toEqual(['ab  ', '  ab', 4])
})

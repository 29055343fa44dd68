import width from 'fast-string-truncated-width'
import type { Terminal, TerminalSize } from './terminal.ts'

type Out = { write(text: string): void }

const csi = '\u001b['
/** Another screen, without cursor; a line is cut at the edge instead of continued on the next line. */
const enter = `${csi}?1049h${csi}?25l${csi}?7l`
const leave = `${csi}?7h${csi}?25h${csi}?1049l`
/** A terminal that knows these shows the lines between them at once. */
const begin = `${csi}?2026h${csi}H`
const end = `${csi}?2026l`
const clearLine = `${csi}2K`
const clearBelow = `\r\n${csi}J`

export const bold = (text: string): string => `${csi}1m${text}${csi}22m`
export const red = (text: string): string => `${csi}31m${text}${csi}39m`
export const inverse = (text: string): string => `${csi}7m${text}${csi}27m`

/** Returns how many columns a text takes; styles take none. */
export const columnsOf = (text: string): number => width(text).width

/** Cuts a text after `columns`, with an ellipsis. */
export function cut(text: string, columns: number): string {
  const { index, ellipsed } = width(text, { limit: columns, ellipsis: '…' })
  return ellipsed ? `${text.slice(0, index)}…${csi}0m` : text
}

/** Pads or cuts a text to `columns`. */
export function fitted(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const shown = cut(text, columns)
  const blanks = ' '.repeat(Math.max(0, columns - columnsOf(shown)))
  return align === 'left' ? shown + blanks : blanks + shown
}

/** The whole terminal, drawn as lines. Disposing shows again what was there before. */
export interface Screen extends Disposable {
  readonly size: TerminalSize
  /** Replaces the contents. Lines below the last row are left out. */
  draw(lines: readonly string[]): void
}

export function openScreen(terminal: Terminal, out: Out): Screen {
  out.write(enter)
  return {
    get size(): TerminalSize {
      return terminal.size()
    },
    draw(lines): void {
      const { columns, rows } = terminal.size()
      const shown = lines.slice(0, rows).map((line) => clearLine + cut(line, columns))
      out.write(begin + shown.join('\r\n') + (shown.length < rows ? clearBelow : '') + end)
    },
    [Symbol.dispose]: () => out.write(leave),
  }
}

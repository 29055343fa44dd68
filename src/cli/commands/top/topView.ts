import type { NodeSample } from '#monitor/sample'
import { inOneLine } from '../../logLines.ts'
import { bold, columnsOf, fitted, inverse, red } from '../../screen.ts'
import type { TerminalSize } from '../../terminal.ts'
import type { History } from './history.ts'
import { panels } from './panels.ts'

const help = 'Tab: next  q: quit'

/** Time of day in UTC, `17:45:03`. */
const clockText = (ms: number): string =>
  [3_600_000, 60_000, 1_000].map((unit, at) => String(Math.floor(ms / unit) % (at === 0 ? 24 : 60)).padStart(2, '0')).join(':')

/** The first line: node, chain and readiness on the left, the time on the right. */
function headLine({ status, timeMs }: NodeSample, columns: number): string {
  const { version, network, chainId, mode, fork, ready, silent } = status
  const chain = network ?? (chainId === null ? 'unknown chain' : `chain ${chainId}`)
  const facts = [version ?? 'node', chain, ...(mode === null ? [] : [mode]), ...(fork === null ? [] : [fork])].map(inOneLine).join(' · ')
  const state = silent.length === 3 ? red('no answer') : ready === null ? 'readiness unknown' : ready ? 'ready' : red('not ready')
  const time = clockText(timeMs)
  return `${fitted(`${bold(facts)} · ${state}`, Math.max(0, columns - time.length - 1))} ${time}`
}

function tabLine(selected: number, columns: number): string {
  const tabs = panels.map(({ title }, at) => (at === selected ? inverse(` ${at + 1} ${title} `) : ` ${at + 1} ${title} `)).join('')
  const left = columns - columnsOf(tabs) - columnsOf(help)
  return left < 1 ? tabs : `${tabs}${' '.repeat(left)}${help}`
}

/** Returns the lines of the whole view: the selected panel, and those after it that fitted as a whole. */
export function topView(sample: NodeSample, history: History, selected: number, { columns, rows }: TerminalSize): readonly string[] {
  const lines = [headLine(sample, columns), tabLine(selected, columns), '']
  for (const [at, { title, lines: linesOf }] of panels.entries()) {
    if (at < selected) continue
    const own = linesOf({ sample, history, columns })
    if (at === selected) lines.push(...own)
    else if (lines.length + own.length + 2 <= rows) lines.push('', bold(title), ...own)
    else break
  }
  return lines
}

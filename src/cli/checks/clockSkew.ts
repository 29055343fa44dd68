import { spanText } from '../textLayout.ts'
import type { Finding } from './finding.ts'

/** Date headers count whole seconds, and answers take time. */
const warnMs = 5_000
/** The Engine API refuses tokens that are older than a minute; unsafe blocks from the future are refused earlier. */
const errorMs = 20_000

/**
 * Compares the clock of this machine with those of servers, by their median.
 * @param skewsMs clock of each server less that of this machine
 */
export function clockFindings(skewsMs: readonly number[]): readonly Finding[] {
  const sorted = skewsMs.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)]
  if (median === undefined || Math.abs(median) < warnMs) return []
  const side = median > 0 ? 'behind' : 'ahead of'
  const what = `it is ${spanText(Math.abs(median) / 1_000)} ${side} the clocks of ${sorted.length} servers`
  return [
    {
      level: Math.abs(median) < errorMs ? 'warning' : 'error',
      where: 'clock of this machine',
      what,
      fix: 'synchronise it: install chrony, or enable systemd-timesyncd',
    },
  ]
}

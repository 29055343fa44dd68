import type { Phase, Round } from './round.ts'

export type Spread = { readonly median: number; readonly p95: number; readonly max: number }

export type Tally = {
  readonly kills: number
  readonly victims: Readonly<Record<string, number>>
  readonly phases: Readonly<Record<Phase, number>>
  /** number of kills that left acknowledged blocks or heads in a journal */
  readonly withJournal: number
  readonly togetherMs: Spread
  readonly upMs: Spread
  /** blocks that were executed again after the kill */
  readonly again: Spread
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { median: at(0.5), p95: at(0.95), max: at(1) }
}

export function tallyOf(rounds: readonly Round[]): Tally {
  const hits = rounds.flatMap(({ hits: own }) => own)
  const victims: Record<string, number> = {}
  const phases: Record<Phase, number> = { starting: 0, deriving: 0, settled: 0 }
  for (const { victim, phase } of hits) {
    victims[victim] = (victims[victim] ?? 0) + 1
    phases[phase]++
  }
  return {
    kills: hits.length,
    victims,
    phases,
    withJournal: hits.filter(({ journalBytes }) => journalBytes > 0).length,
    togetherMs: spreadOf(rounds.map(({ togetherMs }) => togetherMs)),
    upMs: spreadOf(rounds.map(({ upMs }) => upMs)),
    again: spreadOf(rounds.map(({ again }) => again)),
  }
}

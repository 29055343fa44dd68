import type { OracleWatch } from '#test/harness/evm/oracle'
import { type Opcode, opcodes } from './opcodes.ts'

/**
 * Outcome of an opcode: `ok`; not enough gas; too few words or too little room on the stack; forbidden in a static call; executed in a frame that was
 * reverted later.
 */
export const outcomes = ['ok', 'out of gas', 'stack', 'static', 'revert'] as const
export type CoverageOutcome = (typeof outcomes)[number]

const failures: Readonly<Record<string, CoverageOutcome>> = {
  'out of gas': 'out of gas',
  'stack underflow': 'stack',
  'stack overflow': 'stack',
  'static state change': 'static',
}

/** Reason why a pair is impossible; undefined for a possible one. */
export function impossible({ name, code, takes, gives, writes }: Opcode, outcome: CoverageOutcome): string | undefined {
  if (outcome === 'static' && !writes) return 'it changes no state'
  if (outcome === 'stack' && gives <= takes && takes === 0) return 'it neither takes nor gives words'
  if (outcome === 'stack' && name === 'REVERT') return 'the oracle fails before it reports the step'
  if (outcome === 'ok' && name === 'REVERT') return 'the frame that it ends is reverted'
  if (outcome === 'out of gas' && code === 0x00) return 'it costs nothing'
  return undefined
}

type Frame = { readonly done: Set<number>; last: number | undefined }

export type Coverage = {
  readonly watch: OracleWatch
  /** Number of opcodes in the last case; resets the counter. */
  takeSteps(): number
  counts(): CoverageCounts
}

/** `pairs` by `pairIndex`; `otherHalts`: halts of frames for other reasons, by the oracle's message. */
export type CoverageCounts = { readonly pairs: Uint32Array; readonly otherHalts: ReadonlyMap<string, number> }

const key = (code: number, outcome: CoverageOutcome): number => code * outcomes.length + outcomes.indexOf(outcome)

/** Counts the outcomes in the oracle's events over all cases. */
export function createCoverage(): Coverage {
  const counts = new Uint32Array(256 * outcomes.length)
  const otherHalts = new Map<string, number>()
  const frames: Frame[] = []
  let steps = 0
  const add = (code: number, outcome: CoverageOutcome): void => {
    const at = key(code, outcome)
    counts[at] = (counts[at] ?? 0) + 1
  }
  const fail = (frame: Frame, error: string): void => {
    const outcome = failures[error]
    if (error === 'revert') frame.done.add(0xfd)
    else if (frame.last !== undefined && outcome) add(frame.last, outcome)
    else {
      const name = error.replace(/ at .*/, '')
      otherHalts.set(name, (otherHalts.get(name) ?? 0) + 1)
    }
    for (const code of frame.done) add(code, 'revert')
  }
  const succeed = (frame: Frame, parent: Frame | undefined): void => {
    if (frame.last !== undefined) frame.done.add(frame.last)
    for (const code of frame.done) {
      add(code, 'ok')
      parent?.done.add(code)
    }
  }
  return {
    watch: {
      beforeMessage(): void {
        frames.push({ done: new Set(), last: undefined })
      },
      step({ opcode }): void {
        steps++
        const frame = frames.at(-1)
        if (!frame) return
        if (frame.last !== undefined) frame.done.add(frame.last)
        frame.last = opcode
      },
      afterMessage(error): void {
        const frame = frames.pop()
        if (!frame) return
        if (error === undefined) succeed(frame, frames.at(-1))
        else fail(frame, error)
      },
    },
    takeSteps(): number {
      const taken = steps
      steps = 0
      frames.length = 0
      return taken
    },
    counts: () => ({ pairs: counts, otherHalts }),
  }
}

/** Sums the counts of several runs. */
export function sumOfCounts(all: readonly CoverageCounts[]): CoverageCounts {
  const pairs = new Uint32Array(256 * outcomes.length)
  const otherHalts = new Map<string, number>()
  for (const counts of all) {
    for (const [i, count] of counts.pairs.entries()) pairs[i] = (pairs[i] ?? 0) + count
    for (const [name, count] of counts.otherHalts) otherHalts.set(name, (otherHalts.get(name) ?? 0) + count)
  }
  return { pairs, otherHalts }
}

/** Names of possible pairs that did not occur. */
export function missingPairs({ pairs }: CoverageCounts): string[] {
  return opcodes.flatMap((opcode) =>
    outcomes
      .filter((outcome) => impossible(opcode, outcome) === undefined && (pairs[key(opcode.code, outcome)] ?? 0) === 0)
      .map((outcome) => `${opcode.name} × ${outcome}`),
  )
}

/** Returns a line with the counts of each opcode; `-` for impossible pairs. */
export function coverageTable({ pairs }: CoverageCounts): string[] {
  const row = (cells: readonly string[]): string => cells.map((cell, i) => (i === 0 ? cell.padEnd(15) : cell.padStart(11))).join('')
  return [
    row(['', ...outcomes]),
    ...opcodes.map((opcode) =>
      row([opcode.name, ...outcomes.map((outcome) => (impossible(opcode, outcome) ? '-' : `${pairs[key(opcode.code, outcome)] ?? 0}`))]),
    ),
  ]
}

/** Returns the impossible pairs, one line per reason. */
export function impossiblePairs(): string[] {
  const all = opcodes.flatMap((opcode) => outcomes.map((outcome) => ({ opcode, outcome, reason: impossible(opcode, outcome) })))
  const byReason = Map.groupBy(
    all.filter(({ reason }) => reason !== undefined),
    ({ reason, outcome }) => `${outcome}, because ${reason}`,
  )
  return [...byReason].map(([reason, pairs]) => `${reason}: ${pairs.map(({ opcode }) => opcode.name).join(' ')}`)
}

import type { Evm } from '#evm/ports'
import { equalBytes } from '#lib/bytes'
import { type CaseRun, type EvmCase, type MessageEnd, runCase, type StateLines, stateAfter } from '#test/harness/evm/case'
import { type OracleWatch, runOracle } from '#test/harness/evm/oracle'

/** Difference between two interpreters as text; undefined for none. */
export type Difference = string | undefined

const shown = 200
const short = (text: string): string => (text.length > shown ? `${text.slice(0, shown)}… (${text.length})` : text)

function fieldsOf({ kind, gasUsed, gasRefund, output, logs, created }: MessageEnd): Record<string, string> {
  return { kind, gasUsed: `${gasUsed}`, gasRefund: `${gasRefund}`, output, created: created ?? '', logs: logs.join('; ') }
}

function differenceOfMessages(one: readonly MessageEnd[], other: readonly MessageEnd[]): Difference {
  for (const [i, end] of one.entries()) {
    const [a, b] = [fieldsOf(end), fieldsOf(other[i] as MessageEnd)]
    const field = Object.keys(a).find((name) => a[name] !== b[name])
    if (field) return `message ${i}: ${field} ${short(a[field] ?? '')} and ${short(b[field] ?? '')} (${end.kind} and ${other[i]?.kind})`
  }
  return undefined
}

/** Lines that only one of two states has: `-` for the first, `+` for the second. */
export function differenceOfStates(one: StateLines, other: StateLines): Difference {
  const [left, right] = [new Set(one), new Set(other)]
  const lines = [
    ...one.filter((line) => !right.has(line)).map((line) => `- ${line}`),
    ...other.filter((line) => !left.has(line)).map((line) => `+ ${line}`),
  ]
  return lines.length === 0 ? undefined : `state: ${short(lines.join('\n'))}`
}

/** Compares two interpreters of this project: outcomes, the bytes of the diffs, and the reads of the sessions. */
export function differenceOfRuns(given: EvmCase, one: CaseRun, other: CaseRun): Difference {
  const messages = differenceOfMessages(one.messages, other.messages)
  if (messages !== undefined) return messages
  if (!equalBytes(new Uint8Array(one.diff.bytes), new Uint8Array(other.diff.bytes))) {
    const state = differenceOfStates(stateAfter(given.accounts, one.diff), stateAfter(given.accounts, other.diff))
    return state ?? 'the diffs have different bytes for the same state'
  }
  const read = one.reads.find((line, i) => line !== other.reads[i])
  return read === undefined ? undefined : `session reads: ${read} and ${other.reads[one.reads.indexOf(read)]}`
}

/** Compares an interpreter with the oracle. Rejects when the oracle fails. */
export async function differenceFromOracle(given: EvmCase, run: CaseRun, watch?: OracleWatch): Promise<Difference> {
  const oracle = await runOracle(given, watch)
  return differenceOfMessages(run.messages, oracle.messages) ?? differenceOfStates(stateAfter(given.accounts, run.diff), oracle.state)
}

/** Returns a run, or the error that it threw. */
export function tryCase(evm: Evm, given: EvmCase, state: 'there' | 'missing' = 'there'): CaseRun | { readonly thrown: string } {
  try {
    return runCase(evm, given, state)
  } catch (error) {
    return { thrown: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

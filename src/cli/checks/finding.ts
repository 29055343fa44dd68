import { type Fault, isFault } from '#lib/fault'
import type { Io } from '../command.ts'
import { exitCodes } from '../exitCodes.ts'
import { inOneLine } from '../logLines.ts'

/** error: the node does not start or does not work; warning: it works, but badly, or not for long. */
export type FindingLevel = 'error' | 'warning'

/** A finding of a check, for one line. */
export type Finding = {
  readonly level: FindingLevel
  /** flag, file, endpoint without credentials, or part of the machine */
  readonly where: string
  readonly what: string
  readonly fix: string
}

/** Returns the finding of a fault. Its text says where. */
export const findingOf = ({ message, fix, code }: Fault, level: FindingLevel = 'error'): Finding => ({
  level,
  where: code,
  what: message,
  fix,
})

/** Runs a check; a fault that it throws becomes a finding. @returns undefined when it threw */
export function checked<T>(findings: Finding[], check: () => T): T | undefined {
  try {
    return check()
  } catch (error) {
    if (!isFault(error)) throw error
    findings.push(findingOf(error))
    return undefined
  }
}

const order: readonly FindingLevel[] = ['error', 'warning']

/** Prints findings, errors first, a line each. @param looked the checks that ran, for the line at the end. @returns the exit code: 1 with an error */
export function printFindings(io: Io, asJson: boolean, all: readonly Finding[], looked: readonly string[]): number {
  const findings = all.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
  const [errors, warnings] = order.map((level) => findings.filter((finding) => finding.level === level).length)
  if (asJson) io.out.write(`${JSON.stringify({ errors, warnings, checks: looked, findings })}\n`)
  else {
    for (const { level, where, what, fix } of findings) io.out.write(`${`${level}:`.padEnd(8)} ${inOneLine(`${where}: ${what}. ${fix}`)}\n`)
    io.out.write(`${errors} errors, ${warnings} warnings; checked: ${looked.join(', ')}\n`)
  }
  return errors === 0 ? exitCodes.done : exitCodes.failed
}

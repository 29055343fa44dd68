import { batcherFault } from '#batcher/faults'
import { databaseFault } from '#database/faults'
import { devnetFault } from '#devnet/faults'
import type { FaultSpec, Severity } from '#lib/fault'
import { faultTemplate } from '#lib/faultText'
import { nodeFaults } from '#node/faultTable'
import { readinessReasons, reasonOf } from '#node/health/readinessReasons'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import { readFlags } from '../../readFlags.ts'
import { mostSimilar } from '../../similar.ts'
import { columns, fieldLines } from '../../textLayout.ts'
import { runbooks } from './runbooks.ts'

/** Meaning of a code, and the remedy. */
export type Explanation = {
  readonly code: string
  readonly kind: 'fault' | 'reason of /readyz' | 'alert'
  readonly meaning: string
  readonly effect?: string
  readonly fix?: string
  /** page of a reason or an alert, Markdown */
  readonly runbook?: string
}

const effects: Readonly<Record<Severity, string>> = {
  retry: 'the node tries again, with growing pauses',
  reset: 'the part returns to a valid state and continues',
  fatal: 'the command ends, or the part of the node stops',
}

const faults: readonly (readonly [string, FaultSpec])[] = [
  ...nodeFaults,
  ...[cliFault, devnetFault, databaseFault, batcherFault].flatMap((maker) =>
    Object.entries(maker.specs as Readonly<Record<string, FaultSpec>>),
  ),
]

const ofFault = (code: string, spec: FaultSpec): Explanation => ({
  code,
  kind: 'fault',
  meaning: faultTemplate(spec),
  effect: effects[spec.severity],
  fix: spec.fix,
})

/** Every explained code. A reason of `/readyz` and a fault may have the same code: they mean the same. */
export function explanations(): readonly Explanation[] {
  const pages = runbooks()
  const ofReasons = readinessReasons.map(({ code, meaning, fix }): Explanation => {
    const page = pages.find(({ name }) => name === code)
    return { code, kind: 'reason of /readyz', meaning, effect: '/readyz is 503', fix, ...(page && { runbook: page.text }) }
  })
  const ofAlerts = pages
    .filter(({ name }) => name.startsWith('Basalt'))
    .map(({ name, meaning, text }): Explanation => ({ code: name, kind: 'alert', meaning, runbook: text }))
  return [...faults.map(([code, spec]) => ofFault(code, spec)), ...ofReasons, ...ofAlerts]
}

/** Returns the explanations of a code, or of a text of `/readyz` with the codes in it. */
function explained(text: string): readonly Explanation[] {
  const codes = [text.toUpperCase(), ...[...text.matchAll(/\(([A-Z0-9_]{3,})\)/g)].map(([, code = '']) => code)]
  const reason = reasonOf(text)
  return explanations().filter(({ code, kind }) => codes.includes(code.toUpperCase()) || (kind !== 'fault' && code === reason?.code))
}

function shown({ code, kind, meaning, effect, fix, runbook }: Explanation): string {
  const fields = fieldLines([
    ['code', `${code}, ${kind}`],
    ['meaning', meaning],
    ...(effect === undefined ? [] : [['effect', effect] as const]),
    ...(fix === undefined ? [] : [['what to do', fix] as const]),
  ])
  return runbook === undefined ? fields : `${fields}\n${runbook}\n`
}

export const explain: CommandBody = {
  argument: { name: 'CODE', doc: 'code of a fault or of a reason of /readyz, the whole reason, or the name of an alert; list: every one' },
  flags: ['json'],
  run(io, raw, text): Promise<number> {
    const { json } = readFlags(['json'], raw, io.env)
    const found = text === 'list' ? explanations() : explained(text)
    if (found.length === 0) {
      const names = new Map(explanations().map(({ code }) => [code.toUpperCase(), code]))
      const meant = names.get(mostSimilar(text.toUpperCase(), [...names.keys()]) ?? '')
      const problem = `no code ${JSON.stringify(text)}${meant === undefined ? '' : `, did you mean ${meant}?`}; basalt explain list prints all`
      throw cliFault('BAD_USAGE', { problem })
    }
    if (json) io.out.write(`${JSON.stringify(found)}\n`)
    else if (text === 'list') io.out.write(columns(found.map(({ code, kind, meaning }) => [code, kind, meaning])))
    else {
      io.out.write(found.map(shown).join('\n'))
    }
    return Promise.resolve(exitCodes.done)
  },
}

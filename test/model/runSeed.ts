import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import { dice } from '#test/harness/dice'
import { ModelRun } from './modelRun.ts'
import { settingsOf } from './nodeProcess.ts'
import { isStepKind, type PlannedStep, planSteps, runStep } from './steps.ts'

/** Result of a run, with the index and the error of the step that failed. */
export type Outcome = {
  readonly counts: ModelRun['counts']
  readonly failure?: { readonly step: number; readonly error: unknown }
}

/** Runs steps on a new store. The seed decides the settings. */
export async function runSteps(seed: number, steps: readonly PlannedStep[]): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-model-'))
  const run = new ModelRun(dir, settingsOf(dice(seed)))
  const { counts } = run
  try {
    for (const [step, planned] of steps.entries()) {
      try {
        await runStep(run, planned)
      } catch (error) {
        return { counts, failure: { step, error } }
      }
    }
    return { counts }
  } finally {
    await run.end()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Returns the steps of a seed. */
export const stepsOf = (seed: number, count: number): PlannedStep[] => planSteps(dice(seed ^ 0x5eed), count)

/** Runs the steps of a seed. @returns the first difference, with the arguments of `npm run test:model` that repeat it; undefined: none */
export async function differenceOf(
  seed: number,
  count: number,
): Promise<{ readonly difference: string | undefined; readonly counts: Outcome['counts'] }> {
  const steps = stepsOf(seed, count)
  const { failure, counts } = await runSteps(seed, steps)
  const difference = failure && `${describe(failure.error)}\n--seed ${seed} --replay '${showSteps(steps.slice(0, failure.step + 1))}'`
  return { difference, counts }
}

/** Writes steps as text, `kind:seed` each; `parseSteps` reads it. */
export const showSteps = (steps: readonly PlannedStep[]): string => steps.map(({ kind, seed }) => `${kind}:${seed}`).join(' ')

/** @throws SyntaxError for other text */
export function parseSteps(text: string): PlannedStep[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((part) => {
      const [kind = '', seed = ''] = part.split(':')
      if (!isStepKind(kind) || !/^\d+$/.test(seed)) throw new SyntaxError(`step ${part}`)
      return { kind, seed: Number(seed) }
    })
}

/**
 * Removes steps from a failing list while it still fails: chunks of a half, then smaller ones. A removed step changes what later ones do, so another error
 * counts as well.
 * @param isTimeUp ends the search early
 */
export async function minimise(
  seed: number,
  failing: readonly PlannedStep[],
  isTimeUp: () => boolean,
): Promise<{ readonly steps: readonly PlannedStep[]; readonly error: string }> {
  let steps = failing
  let error = ''
  const fails = async (tried: readonly PlannedStep[]): Promise<boolean> => {
    const { failure } = await runSteps(seed, tried)
    if (failure === undefined) return false
    steps = tried.slice(0, failure.step + 1)
    error = describe(failure.error)
    return true
  }
  for (let size = Math.ceil(steps.length / 2); size >= 1 && !isTimeUp(); size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let from = 0; from < steps.length - 1 && !isTimeUp(); ) {
      const to = Math.min(from + size, steps.length - 1)
      if (!(await fails([...steps.slice(0, from), ...steps.slice(to)]))) from = to
    }
  }
  return { steps, error }
}

export const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? errorMessage(error)) : String(error))

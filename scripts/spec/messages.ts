// Messages between the main thread of `npm run test:spec` and its workers.
import type { StateTestFile } from '#test/vectors/publicStateTests'
import type { StateTestFailure } from '#test/vectors/runStateTest'

/** Settings of a worker: names of the interpreters, and the prefix of the cases' ids. */
export type SpecOptions = { readonly evms: readonly string[]; readonly only: string | undefined }
export type SpecJob = StateTestFile
export type SpecReport = {
  readonly file: string
  /** cases that ran on each interpreter, by fork */
  readonly counts: Readonly<Record<string, number>>
  readonly failures: readonly StateTestFailure[]
  readonly ms: number
}

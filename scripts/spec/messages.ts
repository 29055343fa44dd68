// What the main thread of `npm run test:spec` and its workers tell each other.
import type { StateTestFile } from '#test/vectors/publicStateTests'
import type { StateTestFailure } from '#test/vectors/runStateTest'

/** For a worker's whole life: which interpreters, by name, and the start of the cases' ids. */
export type SpecOptions = { readonly evms: readonly string[]; readonly only: string | undefined }
export type SpecJob = StateTestFile
export type SpecReport = {
  readonly file: string
  /** cases that ran on each interpreter, by fork */
  readonly counts: Readonly<Record<string, number>>
  readonly failures: readonly StateTestFailure[]
  readonly ms: number
}

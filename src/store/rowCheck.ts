import type { Hex } from '#lib/hex'

/** A row that contradicts other rows. */
export type Difference = { readonly table: string; readonly key: Hex; readonly expected: string; readonly found: string }

/** Caller of a check that runs on one snapshot. */
export type CheckWatch = {
  report(difference: Difference): void
  /** Called between rows; false ends the check at its position. */
  hasTime(): boolean
  /** Called once for each checked row. */
  onRow(): void
}

/** Counts of one phase. */
export type Tally = {
  kills: number
  /** kills between begin and end of a transaction of blocks */
  inCommit: number
  /** kills that left states whose removal had begun */
  inPruning: number
  /** kills that left segment files without a record, or moved rows */
  inMoves: number
  /** chains that reached their end, or commands that ended */
  finished: number
  /** verifications after kills */
  verified: number
  slowestOpenMs: number
  /** the most processor time of an open, of all threads */
  mostOpenCpuMs: number
  oldestState: number
}

export const emptyTally = (): Tally => ({
  kills: 0,
  inCommit: 0,
  inPruning: 0,
  inMoves: 0,
  finished: 0,
  verified: 0,
  slowestOpenMs: 0,
  mostOpenCpuMs: 0,
  oldestState: 0,
})

/** @throws Error that ends the run */
export function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what)
}

export function report(name: string, wanted: number, tally: Tally): void {
  const { kills, inCommit, inPruning, inMoves, finished, verified, slowestOpenMs, mostOpenCpuMs, oldestState } = tally
  const where = `${inCommit} in a commit, ${inPruning} in pruning, ${inMoves} in moves`
  process.stderr.write(
    `\r${name}: ${kills}/${wanted} kills, ${where}, ${verified} verified, ${finished} finished, opens in <= ${slowestOpenMs} ms (${mostOpenCpuMs} ms of processor time), oldest state ${oldestState} `,
  )
}

export function noteOpen(
  tally: Tally,
  { openMs = 0, openCpuMs = 0 }: { readonly openMs: number | undefined; readonly openCpuMs: number | undefined },
): void {
  tally.slowestOpenMs = Math.max(tally.slowestOpenMs, openMs)
  tally.mostOpenCpuMs = Math.max(tally.mostOpenCpuMs, openCpuMs)
}

// Worker thread of `npm run fuzz:evm`.
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { readCorpus } from './corpus.ts'
import type { CoverageCounts } from './coverage.ts'
import { type FuzzCounts, FuzzLoop, type FuzzShare } from './loop.ts'

export type FuzzReport =
  | { readonly kind: 'found'; readonly text: string }
  | {
      readonly kind: 'counts'
      readonly counts: FuzzCounts
      readonly coverage: CoverageCounts
      readonly oracleFailures: ReadonlyMap<string, number>
    }

const everyMs = 2_000
const share = workerData as Omit<FuzzShare, 'endMs'> & { readonly seconds: number }
const post = (report: FuzzReport): void => parentPort?.postMessage(report)
const endMs = performance.now() + share.seconds * 1000
const loop = new FuzzLoop({ ...share, endMs }, readCorpus('all'), (text) => post({ kind: 'found', text }))
const tellCounts = (): void =>
  post({ kind: 'counts', counts: loop.counts, coverage: loop.coverage.counts(), oracleFailures: loop.checker.oracleFailures })

let toldMs = performance.now()
await loop.run(async () => {
  if (performance.now() - toldMs < everyMs) return
  toldMs = performance.now()
  tellCounts()
  await setImmediate()
})
tellCounts()

// The process that is killed while it works on recorded proofs: `record`, a node whose chain grows and is reorganised, or the command `init`, `prune`,
// `unwind` or `verify` of `basalt proofs`. It reports on pipe 3, one message a line, besides those of `transactions.ts`:
//   open MS CPU_MS  the first piece of work is done, MS milliseconds after the start of the process, with CPU_MS of processor time in all threads; record:
//                   the node is open
//   unwound BLOCKS  recorded blocks were removed because the chain replaced them
//   done RESULT     the work is whole
// Transactions of the commands are as short as possible, so that there are many.
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { initProofs, pruneProofs, unwindProofs } from '#database/proofs/changeRecorded'
import { verifyRecorded } from '#database/proofs/verifyRecorded'
import { systemClock } from '#lib/clock'
import { type Log, logTo } from '#lib/log'
import { extendChain, replaceHead, startChain } from '#test/harness/process/builtChain'
import { randomOf } from '../random.ts'
import { keptBlocks, proofsOf, recordingRetention, unwindTo } from './settings.ts'

const [kind, datadir = '', last = '', seed = ''] = process.argv.slice(2)
const tell = (message: string): number => writeSync(3, `${message}\n`)
const { signal } = new AbortController()
let isOpen = false
function tellOpen(): void {
  if (isOpen) return
  isOpen = true
  const { user, system } = process.cpuUsage()
  tell(`open ${Math.round(performance.now())} ${Math.round((user + system) / 1_000)}`)
}

let ms = 0
/** Each look at the time takes 20 ms of the 50 of a step. */
const clock = { ...systemClock, elapsedMs: (): number => (ms += 20) }
const change = { clock, signal, onProgress: tellOpen }
const verify = { signal, random: (below: number): number => Math.floor(Math.random() * below), onProgress: tellOpen }

/** Reports recorded blocks that the chain replaced. */
const log: Log = logTo(
  (level, message, fields) => {
    if (message.startsWith('recorded blocks removed')) tell(`unwound ${fields?.['blocks']}`)
    else if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`)
  },
  () => log,
)

/** Extends the chain up to a block, with reorgs, while it is recorded, and waits until the recorded blocks are those of the chain. */
async function record(): Promise<unknown> {
  const random = randomOf(Number(seed))
  await using node = await startChain(datadir, 'kept', () => {}, { retention: recordingRetention, proofs: proofsOf(datadir) }, log)
  tellOpen()
  const { execution } = node
  if (execution === undefined) throw new Error('no execution half')
  for (let head = execution.published.heads.unsafe; head.number < Number(last); head = execution.published.heads.unsafe) {
    const depth = Math.min(1 + Math.floor(random() * 8), head.number - execution.published.heads.finalized.number)
    if (random() < 0.3 && depth > 0) await replaceHead(node, depth, 1 + Math.floor(random() * 1_000_000))
    else await extendChain(node, Math.min(head.number + 4, Number(last)), 'kept', () => {})
    // several reorgs are of recorded blocks
    if (random() < 0.2) await systemClock.delay(random() * 400)
  }
  const { number, hash } = execution.published.heads.unsafe
  for (;;) {
    using view = execution.view()
    if (view.proofs?.window?.latest.hash === hash) return { number, hash }
    await systemClock.delay(50)
  }
}

const runs = {
  record,
  init: () => initProofs(change, { datadir }, 0),
  prune: () => pruneProofs(change, { datadir }, { blocks: keptBlocks }),
  unwind: () => unwindProofs(change, { datadir }, unwindTo),
  verify: () => verifyRecorded(verify, { datadir, path: join(datadir, 'proofs') }, 'all'),
}
const result = await runs[kind as keyof typeof runs]()
tell(`done ${JSON.stringify(result)}`)

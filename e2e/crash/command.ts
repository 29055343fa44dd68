// The process that is killed during a command of `basalt db`: compact, migrate, verify or prune. It reports on pipe 3: `step` after each of its effects,
// and `done` at the end. Transactions of migrate and prune, and snapshots of verify, are as short as possible, so that there are many.
import { writeSync } from 'node:fs'
import { compactDatabase } from '#database/compact'
import { migrateDatabase } from '#database/migrate'
import { pruneDatabase } from '#database/prune'
import { verifyDatabase } from '#database/verify'
import { systemClock } from '#lib/clock'

const [command, datadir = ''] = process.argv.slice(2)
const tell = (message: string): number => writeSync(3, `${message}\n`)
const { signal } = new AbortController()
const onProgress = (): void => void tell('step')
let ms = 0
/** Each look at the time ends a transaction. */
const clock = { elapsedMs: (): number => (ms += 1_000) }

const commands = {
  compact: () => compactDatabase({ clock: systemClock, signal, onProgress, onStep: onProgress }, datadir),
  migrate: () => migrateDatabase({ clock, signal, onProgress }, datadir),
  verify: () => verifyDatabase({ clock: systemClock, signal, onProgress }, { datadir, runMs: 1, restart: true }),
  prune: () => pruneDatabase({ clock, signal, onProgress }, datadir, { blocks: 5 }),
}
tell('step')
const result = await commands[command as keyof typeof commands]()
tell(`done ${JSON.stringify(result)}`)

// The process that is killed: `import` or `derive`. It reports on pipe 3, one message a line:
//   open MS            the data directory is open, after MS milliseconds
//   begin, end         begin and end of a commit; older states are removed after it
//   oldest NUMBER      the oldest state: at the start, and after each change. derive only
//   head NUMBER HASH   an acknowledged head
//   serving URL        derive only
//   done NUMBER HASH   the end of the chain
import { readFileSync, writeSync } from 'node:fs'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { importFile } from '#node/importFile'
import { startNode } from '#node/node'
import type { Retention } from '#types/chainDistance'

const [mode, datadir = '', genesisPath = '', ...rest] = process.argv.slice(2)
const startMs = performance.now()
const tell = (message: string): number => writeSync(3, `${message}\n`)
/** So short that every run removes states of finalized blocks. */
const retention: Retention = { history: { blocks: 20 } }
const onCommit = (phase: 'begin' | 'end'): number => tell(phase)
const { genesis } = parseBaseGenesisNote(JSON.parse(readFileSync(genesisPath, 'utf8')))
const tellOpen = (): number => tell(`open ${Math.round(performance.now() - startMs)}`)

async function runImport(): Promise<void> {
  const lines = readFileSync(rest[0] ?? '', 'utf8').split('\n')
  const onBlock = ({ blockNumber, blockHash }: { blockNumber: number; blockHash: string }): number =>
    tell(`head ${blockNumber} ${blockHash}`)
  const { head } = await importFile(
    { clock: systemClock, log: silentLog, onCommit, onBlock },
    { genesis, datadir, lines: told(lines), retention },
  )
  tell(`done ${head.number} ${head.hash}`)
}

/** Yields the lines; the first request means that the store is open. */
function* told(lines: readonly string[]): Iterable<string> {
  tellOpen()
  yield* lines
}

async function runDerive(): Promise<void> {
  const [rollupPath = '', l1Url = '', last = ''] = rest
  const { config } = parseRollupConfig(JSON.parse(readFileSync(rollupPath, 'utf8')))
  await using node = await startNode(
    { clock: systemClock, random: Math.random, fetch, log: silentLog, onCommit },
    {
      mode: 'all',
      config,
      genesis: () => genesis,
      datadir,
      version: 'crash',
      l1: { rpcUrls: [l1Url], beaconUrls: [], pollMs: 200 },
      listen: { http: { host: '127.0.0.1', port: 0 } },
      isAdminOn: false,
      readyMaxLagSec: 30,
      minFreeBytes: 0,
      retention,
    },
  )
  const { execution } = node
  if (!execution) throw new Error('no execution half')
  tellOpen()
  let oldest = -1
  const tellOldest = (): void => {
    using view = execution.view()
    if (view.oldestState === oldest) return
    oldest = view.oldestState
    tell(`oldest ${oldest}`)
  }
  tellOldest()
  tell(`serving ${node.urls.http}`)
  while (execution.published.heads.safe.number < Number(last)) {
    await Promise.race([systemClock.delay(20), node.stopped])
    tellOldest()
  }
  const { number, hash } = execution.published.heads.safe
  tell(`done ${number} ${hash}`)
  await systemClock.delay(60_000)
}

await (mode === 'import' ? runImport() : runDerive())

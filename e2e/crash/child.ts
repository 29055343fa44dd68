// The process that is killed: `import`, `derive`, or `build` with finalized blocks that are pruned and moved to segment files. It reports on pipe 3, one message a line:
//   open MS CPU_MS     the data directory is open, after MS milliseconds, of which CPU_MS of processor time in all threads
//   begin, end         begin and end of a commit; older states are removed after it
//   oldest NUMBER      the oldest state: at the start, and after each change. derive and build
//   head NUMBER HASH   an acknowledged head
//   serving URL        derive and build
//   done NUMBER HASH   the end of the chain
import { readFileSync, writeSync } from 'node:fs'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { Genesis } from '#chainspec/genesis'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { importFile } from '#node/importFile'
import { type Node, startNode } from '#node/node'
import { type ChainMode, extendChain, startChain } from '#test/harness/process/builtChain'
import type { Retention } from '#types/chainDistance'

const [mode, datadir = '', genesisPath = '', ...rest] = process.argv.slice(2)
const startMs = performance.now()
const tell = (message: string): number => writeSync(3, `${message}\n`)
/** So short that every run removes states of finalized blocks. */
const retention: Retention = { history: { blocks: 20 } }
const onCommit = (phase: 'begin' | 'end'): number => tell(phase)
const readGenesis = (): Genesis => parseBaseGenesisNote(JSON.parse(readFileSync(genesisPath, 'utf8'))).genesis
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
const startCpuMs = cpuMs()
const tellOpen = (): number => tell(`open ${Math.round(performance.now() - startMs)} ${Math.round(cpuMs() - startCpuMs)}`)

async function runImport(): Promise<void> {
  const lines = readFileSync(rest[0] ?? '', 'utf8').split('\n')
  // an import acknowledges the blocks of a transaction at its end
  let [last, committing] = ['', '']
  const onBlock = ({ blockNumber, blockHash }: { blockNumber: number; blockHash: string }): void => {
    last = `head ${blockNumber} ${blockHash}`
  }
  const onImportCommit = (phase: 'begin' | 'end'): void => {
    onCommit(phase)
    if (phase === 'begin') committing = last
    else if (committing !== '') tell(committing)
  }
  const { head } = await importFile(
    { clock: systemClock, log: silentLog, onCommit: onImportCommit, onBlock },
    { genesis: readGenesis(), datadir, lines: told(lines), retention },
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
      genesis: readGenesis,
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
  const tellOldest = oldestTeller(node)
  tell(`serving ${node.urls.http}`)
  while (execution.published.heads.safe.number < Number(last)) {
    await Promise.race([systemClock.delay(20), node.stopped])
    tellOldest()
  }
  const { number, hash } = execution.published.heads.safe
  tell(`done ${number} ${hash}`)
  await systemClock.delay(60_000)
}

/** Returns a function that reports the oldest state when it has changed. */
function oldestTeller({ execution }: Node): () => void {
  let oldest = -1
  const tellOldest = (): void => {
    using view = execution?.view()
    if (view === undefined || view.oldestState === oldest) return
    oldest = view.oldestState
    tell(`oldest ${oldest}`)
  }
  tellOldest()
  return tellOldest
}

async function runBuild(): Promise<void> {
  const [last = '', chainMode = 'pruned'] = [genesisPath, ...rest]
  await using node = await startChain(datadir, chainMode as ChainMode, onCommit)
  tellOpen()
  const tellOldest = oldestTeller(node)
  tell(`serving ${node.urls.http}`)
  await extendChain(node, Number(last), chainMode as ChainMode, ({ number, hash }) => {
    tell(`head ${number} ${hash}`)
    tellOldest()
  })
  const { number, hash } = (node.execution as ExecutionWorker).published.heads.unsafe
  tell(`done ${number} ${hash}`)
  // blocks move and states are removed for some seconds after the last block
  await systemClock.delay(60_000)
}

const runs = { import: runImport, derive: runDerive, build: runBuild }
await runs[mode as keyof typeof runs]()

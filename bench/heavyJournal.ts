// Opens a data directory of the bench chain whose journal is at its bound, in its own process, and prints the cost of the start: time from the
// first line of the process to a view of the head, and the replay's share of it.
import { readFileSync } from 'node:fs'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'

const [dir = '', genesisPath = ''] = process.argv.slice(2)
const { genesis } = parseBaseGenesisNote(JSON.parse(readFileSync(genesisPath, 'utf8')))
const kv = openLmdbKv(dir, Object.values(tables))
const journal = openFileJournal(`${dir}/journal`, silentLog)
const startMs = performance.now()
let blocks = 0
const execution = createExecution({
  kv,
  journal,
  evm: createWasmEvm(),
  config: configOfGenesis(genesis),
  genesis: () => genesis,
  clock: systemClock,
  log: silentLog,
  onExecuted: () => blocks++,
})
const replayMs = performance.now() - startMs
using view = execution.view()
process.stdout.write(`${JSON.stringify({ replayMs, blocks, head: view.heads.latest.number, sinceLaunchMs: performance.now() })}\n`)
process.exit(0)

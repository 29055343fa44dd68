// Child of snapshotCrash.ts and snapshotFaults.ts: DATADIR SOURCE. Imports the recorded chain's snapshot of the other client from a folder or URL; or, when
// SOURCE is a database file, loads its state, which has no headers. Exit code 1 with the code of the fault on stderr.
import { join } from 'node:path'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { openStateLoader } from '#snapshot/load/stateLoader'
import { importReth } from '#snapshot/reth/importReth'
import { loadState } from '#snapshot/reth/loadState'
import { Database } from '#snapshot/reth/mdbx/database'
import { givenBlocks } from '#test/harness/snapshot/loadRecorded'

const [datadir = '', source = ''] = process.argv.slice(2)
const dir = join(datadir, 'chain')
const head = 171
const { signal } = new AbortController()

async function load(): Promise<void> {
  using database = new Database(source)
  await using loader = await openStateLoader({ dir, source: 'a generated database', command: 'again' })
  await loadState({ signal, onProgress: () => {} }, database, loader)
  loader.end()
}

async function importFixture(): Promise<void> {
  const chain = readRecordedChain('op-ecotone-to-jovian')
  const deps = {
    fetch,
    clock: systemClock,
    random: Math.random,
    signal,
    onProgress: () => {},
    fetchTransactions: async () => givenBlocks(chain, head, head)[0]?.transactions ?? [],
  }
  const { l2ChainId: chainId, genesis } = chain.config
  const places = { source, dir, workDir: join(datadir, 'reth-import') }
  await importReth(deps, { ...places, command: 'again', chainId, genesis: genesis.l2, given: chain.blocks[head]?.hash })
}

try {
  await (source.endsWith('.dat') ? load() : importFixture())
} catch (error) {
  console.error(isFault(error) ? error.code : error)
  process.exitCode = 1
}

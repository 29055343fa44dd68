// What recorded proofs cost: an import of Denim blocks of 8 Mgas with and without them, in turn; then the same blocks recorded afterwards, and
// witnesses of random blocks, whose states the chain has pruned, each executed without a state.
// npm run bench -- proofsRecording --dir DIR [--blocks 2000] [--rounds 3]: DIR has the file of blocks that denimImport made, or gets one
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { initProofs } from '#database/proofs/changeRecorded'
import { systemClock } from '#lib/clock'
import { countNodes } from '#state/nodeRow'
import { environmentStats } from '#store/environmentStats'
import type { KvReader } from '#store/ports'
import { openForeignProofsReader } from '#store/proofsTables'
import { proofsTables } from '#store/tables'
import { startCli } from '#test/harness/process/cliProcess'
import { createDenimChain, type DenimChain } from '../denim/chain.ts'
import { payloadFileOf } from '../denim/import.ts'
import { senders } from '../denim/senders.ts'
import { distribution, median, type Row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'
import { pruneChain, witnessTimes } from './witnesses.ts'

/** Imports the blocks in a process of its own. @returns seconds */
async function importOnce(chain: DenimChain, path: string, datadir: string, more: readonly string[]): Promise<number> {
  rmSync(datadir, { recursive: true, force: true })
  await using cli = startCli(['import', path, '--genesis', chain.genesisFile, '--datadir', datadir, '--json', ...more])
  const { code, stdout, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  return (JSON.parse(stdout) as { seconds: number }).seconds
}

/** Bytes of the recorded proofs. */
function sizes(datadir: string, proofs: KvReader): Readonly<Record<string, number>> {
  const { tables: all, fileBytes } = environmentStats(join(datadir, 'proofs'))
  const bytesOf = (...names: readonly string[]): number =>
    all.filter(({ name }) => names.includes(name)).reduce((sum, { bytes }) => sum + bytes, 0)
  let [blocks, nodes] = [0, 0]
  for (const { value } of proofs.range(proofsTables.nodeHistory.id, {})) {
    blocks++
    nodes += countNodes(value)
  }
  const perBlock = (bytes: number): number => Math.round(bytes / blocks)
  return {
    bytesPerBlock: perBlock(fileBytes),
    valueBytesPerBlock: perBlock(bytesOf('values', 'historyIndex')),
    nodeBytesPerBlock: perBlock(bytesOf('nodeHistory', 'nodeIndex')),
    nodesPerBlock: perBlock(nodes),
    bytesPerNode: Math.round(bytesOf('nodeHistory', 'nodeIndex') / nodes),
  }
}

type RecordingOptions = { readonly blocks?: number; readonly rounds?: number; readonly dir?: string }

async function measure(folder: string, { blocks = 2_000, rounds = 3, dir = folder }: RecordingOptions): Promise<readonly Row[]> {
  mkdirSync(dir, { recursive: true })
  const chain = createDenimChain(dir, senders)
  const path = await payloadFileOf(chain, folder, dir, blocks)
  const datadir = join(folder, 'imported')
  const times = { with: [] as number[], without: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.without.push(await importOnce(chain, path, datadir, []))
    if (round < rounds - 1) times.with.push(await importOnce(chain, path, datadir, ['--proofs-history']))
  }
  // the last import recorded nothing: its blocks are recorded now
  const deps = { clock: systemClock, signal: new AbortController().signal, onProgress: (): void => {} }
  const startMs = performance.now()
  await initProofs(deps, { datadir }, blocks - 1)
  const enablingMs = performance.now() - startMs
  await initProofs(deps, { datadir }, 0)
  const recordingSec = (performance.now() - startMs) / 1_000
  times.with.push(await importOnce(chain, path, datadir, ['--proofs-history']))
  await using proofs = openForeignProofsReader(join(datadir, 'proofs'))
  using reader = proofs.snapshot()
  const facts = sizes(datadir, reader)
  await pruneChain(deps, datadir)
  const ratios = times.with.map((seconds, i) => seconds / (times.without[i] ?? seconds))
  const rate = (seconds: number): number => blocks / seconds
  return [
    {
      name: 'import with recorded proofs',
      value: rate(median(times.with)),
      unit: 'blocks/s',
      runs: times.with.map(rate),
      against: { name: 'without', value: rate(median(times.without)), runs: times.without.map(rate) },
      facts: { ...facts, medianRatioOfTimes: Number(median(ratios).toFixed(3)) },
    },
    {
      name: 'blocks recorded afterwards',
      value: rate(recordingSec),
      unit: 'blocks/s',
      runs: [rate(recordingSec)],
      facts: { enablingMs: Math.round(enablingMs) },
    },
    { ...distribution('witness of a random block', 'ms, less is better', await witnessTimes(chain.config, datadir, blocks)) },
  ]
}

export const run = (options: RecordingOptions): Promise<readonly Row[]> =>
  inFolder('proofs-recording', (folder) => measure(folder, options))

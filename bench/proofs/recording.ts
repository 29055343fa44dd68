// What recorded proofs cost: an import of Denim blocks of 8 Mgas with and without them, in turn; then the same blocks recorded afterwards, and
// witnesses of random blocks, whose states the chain has pruned, each executed without a state.
// npm run bench -- proofsRecording --dir DIR [--blocks 2000] [--rounds 3]: DIR has the file of blocks that denimImport made, or gets one
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inputOfBlock } from '#block/execution/blockInput'
import { executeBlock } from '#block/execution/executeBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { readHead } from '#blockchain/chainStore'
import { createChainView, type ExecutionView, type ViewSources } from '#blockchain/view/chainView'
import { SharedSnapshot } from '#blockchain/view/sharedSnapshot'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { initProofs } from '#database/proofs/changeRecorded'
import { pruneDatabase } from '#database/prune'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { CacheSet } from '#lib/caches'
import { systemClock } from '#lib/clock'
import { keccak256 } from '#lib/keccak'
import { recordedStates } from '#proofs/olderStates'
import { createTracing } from '#simulation/trace/tracing'
import { countNodes } from '#state/nodeRow'
import { witnessState } from '#state/witnessState'
import { openChainKv, openForeignChainReader } from '#store/chainTables'
import { environmentStats } from '#store/environmentStats'
import type { KvReader, SnapshotSource } from '#store/ports'
import { openForeignProofsReader } from '#store/proofsTables'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { startCli } from '#test/harness/process/cliProcess'
import { decodeHeader, hashHeader } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import { putHeads, readHeadsSequence } from '../../src/blockchain/chainStore.ts'
import { divideCache, usualCacheBytes } from '../../src/node/memory/cacheBudget.ts'
import type { ExecutionWitness } from '../../src/rpc/tracePorts.ts'
import { createDenimChain, type DenimChain } from '../denim/chain.ts'
import { payloadFileOf } from '../denim/import.ts'
import { senders } from '../denim/senders.ts'
import { distribution, median, type Row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'

const [witnesses, keptBlocks] = [200, 20]

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
  for (const { value } of proofs.range(tables.nodeHistory.id, {})) {
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

/** Finalizes the head, and prunes the chain behind it: no state is pruned from the finalized block on, and an import finalizes none. */
async function pruneChain(deps: Parameters<typeof pruneDatabase>[0], datadir: string): Promise<void> {
  {
    await using kv = openChainKv(join(datadir, 'chain'))
    kv.write((tx) => {
      const head = readHead(tx)
      if (head) putHeads(tx, { unsafe: head, safe: head, finalized: head }, readHeadsSequence(tx) + 1)
    })
  }
  const { oldestState, head } = await pruneDatabase(deps, datadir, { blocks: keptBlocks })
  if (oldestState !== head - keptBlocks) throw new Error(`the chain still has the state of block ${oldestState}`)
}

/** Returns a function that returns a view of the chain with its recorded proofs: the same one each time, as in a node whose head stays. */
function viewsOf(config: RollupConfig, chain: SnapshotSource, proofs: SnapshotSource): () => ExecutionView {
  const reader = new SharedSnapshot(chain.snapshot())
  const recorded = reader.attach(proofs.snapshot())
  const head = readHead(reader)
  if (head === undefined) throw new Error('no head')
  const ref = { ...head, parentHash: head.hash, timestamp: 0, l1Origin: head, sequenceNumber: 0 }
  const record = { heads: { unsafe: ref, safe: ref, finalized: ref }, committed: head, base: head, overlays: [] }
  const older: ViewSources['older'] = (_, cache) => ({
    ...recordedStates(recorded, reader, head.number, cache),
    [Symbol.dispose]: () => {},
  })
  const view = createChainView(reader, config, record, () => undefined, { older })
  if (view === undefined) throw new Error('the record is older than the snapshot')
  return () => {
    reader.enter()
    return view
  }
}

/** Executes a block on its witness alone. @returns its hash */
function executed(config: RollupConfig, view: ExecutionView, hash: Hash, { state, codes, headers }: ExecutionWitness): Hash {
  const preimages = new Map([...state, ...codes].map((bytes) => [hashFromBytes(keccak256(bytes)), bytes]))
  const known = new Map(headers.map((bytes) => decodeHeader(bytes)).map((header) => [header.number, header]))
  const block = view.block(hash)?.block
  const header = block && known.get(block.header.number - 1)
  if (!block || !header) throw new Error('no parent in the witness')
  const hashOf = (number: number): Hash | undefined => {
    const of = known.get(number)
    return of && hashHeader(of)
  }
  const parent = { header, hash: hashHeader(header), state: witnessState(preimages, header.stateRoot, hashOf) }
  const result = executeBlock(
    { evm: createWasmEvm(), config, senders: createSenders({ maxBytes: senderCacheBytes }) },
    parent,
    inputOfBlock(block),
  )
  if (result.kind !== 'executed') throw new Error(`block ${block.header.number} is invalid on its witness`)
  return result.block.hash
}

/** Makes witnesses of random blocks. @returns milliseconds of each */
async function witnessTimes(config: RollupConfig, datadir: string, blocks: number): Promise<number[]> {
  await using chain = openForeignChainReader(join(datadir, 'chain'))
  await using proofs = openForeignProofsReader(join(datadir, 'proofs'))
  const viewNow = viewsOf(config, chain, proofs)
  using view = viewNow()
  const deps = {
    execution: { view: viewNow },
    evm: createWasmEvm(),
    traced: createTracedWasmEvm(),
    config,
    clock: systemClock,
    maxTraceBytes: 2 ** 28,
  }
  const roll = dice(3)
  const times: number[] = []
  for (let i = 0; i < witnesses; i++) {
    const hash = view.canonicalHash(2 + roll(blocks - keptBlocks - 2)) as Hash
    const tracing = createTracing(deps, new CacheSet(divideCache(usualCacheBytes(0))))
    const startMs = performance.now()
    const work = tracing.witness(hash)
    while (work && work.outcome === undefined) if (work.work() === 'pruned') throw new Error('the state is pruned')
    times.push(performance.now() - startMs)
    if (work?.outcome?.kind !== 'found') throw new Error('no witness')
    if (executed(config, view, hash, work.outcome.witness) !== hash) throw new Error(`the witness of ${hash} leads to another block`)
  }
  return times
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

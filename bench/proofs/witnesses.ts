// Witnesses of random blocks whose states the chain has pruned, each executed without a state.
import { join } from 'node:path'
import { inputOfBlock } from '#block/execution/blockInput'
import { executeBlock } from '#block/execution/executeBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { readHead } from '#blockchain/chainStore'
import { createChainView, type ExecutionView, type ViewSources } from '#blockchain/view/chainView'
import { SharedSnapshot } from '#blockchain/view/sharedSnapshot'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { pruneDatabase } from '#database/prune'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { CacheSet } from '#lib/caches'
import { systemClock } from '#lib/clock'
import { keccak256 } from '#lib/keccak'
import { recordedStates } from '#proofs/olderStates'
import { createTracing } from '#simulation/trace/tracing'
import { witnessState } from '#state/witnessState'
import { openChainKv, openForeignChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { openForeignProofsReader } from '#store/proofsTables'
import { dice } from '#test/harness/dice'
import { decodeHeader, hashHeader } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import { putHeads, readHeadsSequence } from '../../src/blockchain/chainStore.ts'
import { divideCache, usualCacheBytes } from '../../src/node/memory/cacheBudget.ts'
import type { ExecutionWitness } from '../../src/rpc/tracePorts.ts'

const [witnesses, keptBlocks] = [200, 20]

/** Finalizes the head, and prunes the chain behind it: no state is pruned from the finalized block on, and an import finalizes none. */
export async function pruneChain(deps: Parameters<typeof pruneDatabase>[0], datadir: string): Promise<void> {
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
  const view = createChainView(reader, config, record, { older })
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
export async function witnessTimes(config: RollupConfig, datadir: string, blocks: number, count = witnesses): Promise<number[]> {
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
  for (let i = 0; i < count; i++) {
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

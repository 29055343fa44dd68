// Proofs at random blocks of a long window, read from recorded proofs: the chain itself has pruned their states. Each is checked by the verifier.
// npm run bench -- proofsWindow [--accounts 1000000] [--slots 3000000] [--blocks 100000] [--seed 1] [--dir DIR]: the window is kept in DIR, and used again
// from there
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bytesFromBigint, concatBytes, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { recordedStates } from '#proofs/olderStates'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { verifyProof } from '#proofVerifier/proof'
import { latestState, latestStateRoot, writeState } from '#state/chainState'
import { HistoryCache } from '#state/historyCache'
import { pruneHistory } from '#state/pruneHistory'
import { computeStateRoot } from '#state/stateRoot'
import { createWorldReads } from '#state/worldReads'
import { openChainKv } from '#store/chainTables'
import { environmentStats } from '#store/environmentStats'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { headerOf } from '#test/harness/chain/headers'
import { dice } from '#test/harness/dice'
import { damaged } from '#test/harness/proofs/damage'
import type { ProofJson } from '#test/harness/proofs/recorded'
import { Tries } from '#trie/tries'
import { encodeHeader } from '#types/header'
import { type Address, emptyCodeHash, type Hash, hashFromBytes, parseAddress } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { blockKey } from '../../src/blockchain/chainRows.ts'
import { putHeads, readCanonicalHash, readHead, readHeader } from '../../src/blockchain/chainStore.ts'
import { proofResult } from '../../src/rpc/results/proof.ts'
import { distribution, type Row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'
import type { StateOptions } from '../state/make.ts'
import type { StateModel, StateSpec } from '../state/model.ts'
import { createProgress } from '../state/progress.ts'
import { makeStateWorld, readStateWorld, type StateWorld } from '../state/world.ts'

const [blocksAtOnce, keptBlocks, changesPerBlock, samples] = [50, 100, 10, 3_000]

/** Time of one step of pruning. */
const stepMs = 8

type Roll = (below: number) => number

/** Returns the items with different keys. */
const once = <T>(items: readonly T[], keyOf: (item: T) => Uint8Array): T[] => [
  ...new Map(items.map((item) => [toHex(keyOf(item)), item])).values(),
]

/** Accounts that one block creates, a later one destroys and creates again with other slots, and a third one destroys. */
const recreated = 100
const recreatedSlots = [0, 1, 2]
const recreatedAddress = (index: number): Uint8Array => bytesFromBigint(0xccn * 2n ** 152n + BigInt(index), 20)
const slotOf = (at: number): Uint8Array => bytesFromBigint(BigInt(at), 32)

/** The next step of one of these accounts. */
function recreation(number: number, state: ReturnType<typeof latestState>): Pick<StateDiffParts, 'accounts' | 'slots'> {
  const addressKey = keccak256(recreatedAddress(number % recreated))
  const step = Math.floor(number / recreated) % 3
  if (step === 2) return { accounts: state.view.account(addressKey) ? [{ key: addressKey, change: null, wiped: true }] : [], slots: [] }
  const change = { nonce: BigInt(step), codeHash: emptyCodeHash, balance: BigInt(number) }
  const slots = recreatedSlots
    .filter((at) => (number + at) % 4 > 0)
    .map((at) => ({ addressKey, slotKey: keccak256(slotOf(at)), value: bytesFromBigint(BigInt(number), 32) }))
  return { accounts: [{ key: addressKey, change, wiped: step === 1 }], slots }
}

/** Changes accounts and slots of the generated state, adds some, and recreates some. */
function anyDiff(model: StateModel, roll: Roll, number: number, state: ReturnType<typeof latestState>): StateDiff {
  const accounts = Array.from({ length: changesPerBlock }, (_, i) => {
    const address = i === 0 ? u64Bytes(number) : model.addressOf(roll(model.spec.accounts))
    const key = keccak256(i === 0 ? concatBytes(new Uint8Array(12), address) : address)
    const { nonce = 0n, codeHash = emptyCodeHash } = state.view.account(key) ?? {}
    return { key, change: { nonce: nonce + 1n, codeHash, balance: BigInt(number) }, wiped: false }
  })
  const slots = Array.from({ length: changesPerBlock }, () => {
    const { rank, at } = model.locate(roll(model.spec.slots))
    const value = bytesFromBigint(BigInt(roll(4) === 0 ? 0 : 1 + roll(2 ** 31)), 32)
    return { addressKey: keccak256(model.addressOf(rank)), slotKey: keccak256(model.slotNumber(rank, at)), value }
  })
  const again = recreation(number, state)
  return createStateDiff({
    accounts: [...once(accounts, ({ key }) => key), ...again.accounts],
    slots: [...once(slots, (slot) => concatBytes(slot.addressKey, slot.slotKey)), ...again.slots],
    codes: [],
  })
}

/** Adds a block of state changes to the chain: no transaction leads to them. */
function addBlock(tx: KvWriter, number: number, diffOf: (state: ReturnType<typeof latestState>) => StateDiff, tries: Tries): void {
  const state = latestState(tx, () => undefined)
  const diff = diffOf(state)
  const result = computeStateRoot(state.nodes, latestStateRoot(tx), diff, tries)
  writeState(tx, number, diff, result)
  const header = headerOf({ number, stateRoot: result.root, timestamp: 1_794_000_000 + Math.floor(number / 5) })
  const hash = hashFromBytes(keccak256(encodeHeader(header)))
  tx.put(tables.headers.id, blockKey({ number, hash }), encodeHeader(header))
  tx.put(tables.canonical.id, u64Bytes(number), fromHex(hash))
  const head = { number, hash }
  putHeads(tx, { unsafe: head, safe: head, finalized: head }, 1)
}

/** Prunes the chain in steps as a node does. */
function prune(kv: Kv, oldest: number): void {
  for (let isDone = false; !isDone; ) {
    const untilMs = performance.now() + stepMs
    isDone = kv.write((tx) => pruneHistory(tx, { values: oldest, nodes: oldest }, () => performance.now() < untilMs))
  }
}

/** Adds blocks, records them, and prunes the chain behind them. */
function grow(kv: Kv, recorder: Recorder, model: StateModel, blocks: number): void {
  const progress = createProgress(blocks, 'blocks')
  const [roll, tries] = [dice(model.spec.seed), new Tries(64 * 2 ** 20)]
  for (let first = 1; first <= blocks; first += blocksAtOnce) {
    const last = Math.min(blocks, first + blocksAtOnce - 1)
    kv.write((tx) => {
      for (let number = first; number <= last; number++) addBlock(tx, number, (state) => anyDiff(model, roll, number, state), tries)
    })
    while (recorder.step(1_000).isBehind);
    const oldest = Math.max(0, last - keptBlocks)
    prune(kv, oldest)
    progress.add(last - first + 1)
  }
  progress.end()
}

function rootOf(reader: KvReader, number: number): Hash {
  const hash = readCanonicalHash(reader, number)
  const header = hash && readHeader(reader, { number, hash })
  if (!header) throw new Error(`no header of block ${number}`)
  return header.stateRoot
}

/** Returns an account with three slots: of the generated state, in one of ten cases an absent one, in another a recreated one. */
function anyPlace(model: StateModel, roll: Roll): { readonly address: Address; readonly slots: readonly Hash[] } {
  const { rank } = model.locate(roll(model.spec.slots))
  const kind = roll(10)
  const slots = Array.from({ length: 3 }, (_, at) => hashFromBytes(kind === 1 ? slotOf(at) : model.slotNumber(rank, at)))
  if (kind === 1) return { address: parseAddress(toHex(recreatedAddress(roll(recreated)))), slots }
  return { address: parseAddress(toHex(kind === 0 ? bytesFromBigint(BigInt(roll(2 ** 31)), 20) : model.addressOf(rank))), slots }
}

/** Makes proofs of random accounts with three slots at random blocks. @returns milliseconds of each, and the number of recorded blocks */
function prove(proofs: Kv, chain: Kv, model: StateModel): { readonly times: number[]; readonly refused: number; readonly blocks: number } {
  using recorded = proofs.snapshot()
  using reader = chain.snapshot()
  const states = recordedStates(recorded, reader, readHead(reader)?.number ?? 0, new HistoryCache())
  const { earliest, latest } = states.window ?? { earliest: 0, latest: 0 }
  const roll = dice(model.spec.seed + 1)
  const times: number[] = []
  let refused = 0
  for (let i = 0; i < samples; i++) {
    const number = earliest + roll(latest - earliest)
    const { address, slots } = anyPlace(model, roll)
    const root = rootOf(reader, number)
    const startMs = performance.now()
    const proof = createWorldReads(
      states.at(number, () => undefined),
      root,
    ).prove(address, slots)
    times.push(performance.now() - startMs)
    const keys = slots.map((slot) => ({ slot, written: slot }))
    const answer = proofResult.encode({ address, keys: keys as never, proof }) as unknown as ProofJson
    const wanted = { stateRoot: root, address, slots }
    if (verifyProof(answer, wanted).kind !== 'valid') throw new Error(`the verifier refuses the proof of ${address} at block ${number}`)
    const wrong = damaged(answer, roll)
    if (verifyProof(wrong.proof, wanted).kind === 'valid') throw new Error(`the verifier accepts a proof with ${wrong.what}`)
    refused++
  }
  return { times, refused, blocks: latest - earliest }
}

async function makeState(dir: string, spec: StateSpec): Promise<StateWorld> {
  const progress = createProgress(spec.accounts + spec.slots, 'accounts and slots')
  const world = await makeStateWorld(dir, spec, (own) => progress.add(1 + own))
  progress.end()
  return world
}

type WindowOptions = StateOptions & { readonly blocks?: number }

async function measure(
  dir: string,
  { accounts = 1_000_000, slots = 3_000_000, blocks = 100_000, seed = 1 }: WindowOptions,
): Promise<readonly Row[]> {
  const isThere = existsSync(join(dir, 'proofs'))
  const { model } = isThere ? readStateWorld(dir) : await makeState(dir, { seed, accounts, slots })
  await using chain = openChainKv(join(dir, 'chain'))
  await using proofs = openProofs(join(dir, 'proofs'))
  if (!isThere) {
    const recorder = new Recorder({ kv: proofs, chain, clock: systemClock }, 'all')
    recorder.step(1_000)
    grow(chain, recorder, model, blocks)
  }
  prove(proofs, chain, model)
  const { times, refused, blocks: recorded } = prove(proofs, chain, model)
  const { fileBytes } = environmentStats(join(dir, 'proofs'))
  const bytesPerBlock = Math.round(fileBytes / recorded)
  const facts = { ...model.spec, blocks: recorded, bytesPerBlock, verified: times.length, damagedRefused: refused }
  const measured = distribution('proof of an account and three slots at a random block', 'ms, less is better', times)
  return [{ ...measured, facts: { ...measured.facts, ...facts } }]
}

export const run = (options: WindowOptions): Promise<readonly Row[]> =>
  options.dir === undefined ? inFolder('proofs-window', (folder) => measure(folder, options)) : measure(options.dir, options)

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { readBaseTrust } from '#blockchain/baseTrust'
import { createExecution } from '#blockchain/execution'
import { readRecordedChain } from '#devnet/recordedChain'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { createManualClock } from '#test/harness/clock'
import { createRecordedNodes } from '#test/harness/consensus/nodes'
import { dice } from '#test/harness/dice'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { sampleOf } from '#test/harness/sample'
import { executeRecorded, givenBlocks, loadLatest, type RecordedState, rowsOf, stateTables } from '#test/harness/snapshot/loadRecorded'
import { emptyRoot, type Hash, parseAddress } from '#types/ids'
import type { Evidence } from '#types/trust'
import { installState } from './installState.ts'
import { openStateLoader } from './stateLoader.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
function newDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-load-'))
  folders.push(folder)
  return join(folder, 'chain')
}

const base = 60
const executed = executeRecorded('op-bedrock-to-holocene', base)
const target = (dir: string) => ({ dir, source: 'a', command: 'basalt snapshot restore a' })

class Kill extends Error {}

/** Loads the state in as many lives as it takes; each ends at a random row. */
async function loadInLives({ kv }: RecordedState, dir: string, seed: number): Promise<number> {
  const roll = dice(seed)
  for (let lives = 1; ; lives++) {
    await using loader = await openStateLoader(target(dir))
    let left = lives === 12 ? Number.POSITIVE_INFINITY : 1 + roll(900)
    using reader = kv.snapshot()
    try {
      loadLatest(reader, loader, () => {
        if (left-- === 0) throw new Kill()
        if (roll(50) === 0) loader.commit()
      })
      loader.end()
      return lives
    } catch (error) {
      if (!(error instanceof Kill)) throw error
    }
  }
}

it.each(sampleOf([1], [1, 2, 3]))(
  'snapshot/stateLoader: a load that is killed at random rows has the rows of the executed state (seed %i)',
  async (seed) => {
    const state = await executed
    const dir = newDir()
    expect(await loadInLives(state, dir, seed)).toBeGreaterThan(3)
    await using loaded = openChainKv(dir)
    using found = loaded.snapshot()
    using expected = state.kv.snapshot()
    for (const table of stateTables) expect(rowsOf(found, table), `table ${table}`).toEqual(rowsOf(expected, table))
  },
)

it('snapshot/stateLoader: a kill after the last rows, before the chain begins, is continued', async () => {
  const { kv } = await executed
  const dir = newDir()
  const roots = new Set<string>()
  for (let life = 0; life < 3; life++) {
    await using loader = await openStateLoader(target(dir))
    using reader = kv.snapshot()
    if (life === 0) loadLatest(reader, loader)
    roots.add(loader.end())
  }
  expect(roots.size).toBe(1)
  await using found = openChainKv(dir)
  using rows = found.snapshot()
  using expected = kv.snapshot()
  for (const table of stateTables) expect(rowsOf(rows, table), `table ${table}`).toEqual(rowsOf(expected, table))
})

it('snapshot/stateLoader: no chain opens on a load that is not finished, and the fault names the command (STATE_UNFINISHED)', async () => {
  const { chain } = await executed
  const dir = newDir()
  {
    await using loader = await openStateLoader(target(dir))
    loader.account(new Uint8Array(32), 1n, 1n, undefined)
    loader.commit()
  }
  await using kv = openChainKv(dir)
  const open = () =>
    createExecution({ kv, evm: sharedEvm, config: chain.config, genesis: () => chain.genesis, clock: createManualClock(), log: silentLog })
  expect(open).toThrow(/basalt snapshot restore a/)
})

it('snapshot/stateLoader: refuses another state in the directory (LOAD_OF_ANOTHER), and a directory with a chain (LOAD_INTO_CHAIN)', async () => {
  const dir = newDir()
  await (await openStateLoader(target(dir)))[Symbol.asyncDispose]()
  await expect(openStateLoader({ ...target(dir), source: 'b' })).rejects.toMatchObject({ code: 'LOAD_OF_ANOTHER' })
  const other = newDir()
  const { chain } = await executed
  {
    await using kv = openChainKv(other)
    agreeOnSchema(kv, chainSchema)
    createExecution({ kv, evm: sharedEvm, config: chain.config, genesis: () => chain.genesis, clock: createManualClock(), log: silentLog })
  }
  await expect(openStateLoader(target(other))).rejects.toMatchObject({ code: 'LOAD_INTO_CHAIN' })
})

it('snapshot/stateLoader: refuses keys that do not ascend, bad values, and a code that is missing (STATE_UNSORTED)', async () => {
  await using loader = await openStateLoader(target(newDir()))
  const key = (byte: number) => new Uint8Array(32).fill(byte)
  const refused = expect.objectContaining({ code: 'STATE_UNSORTED' })
  expect(() => loader.slot(key(1), Uint8Array.of(1))).toThrow(refused)
  loader.account(key(2), 0n, 0n, undefined)
  loader.slot(key(3), Uint8Array.of(1))
  for (const value of [new Uint8Array(0), Uint8Array.of(0, 1), new Uint8Array(33).fill(1)])
    expect(() => loader.slot(key(4), value)).toThrow(refused)
  for (const slot of [key(3), key(1), new Uint8Array(31)]) expect(() => loader.slot(slot, Uint8Array.of(1))).toThrow(refused)
  for (const account of [key(2), key(1), new Uint8Array(33)]) expect(() => loader.account(account, 0n, 0n, undefined)).toThrow(refused)
  expect(() => loader.account(key(5), 0n, 0n, key(7))).toThrow(refused)
  const code = loader.code(Uint8Array.of(1, 2))
  loader.account(key(5), 0n, 0n, code)
})

it('snapshot/stateLoader: an empty state has the empty root', async () => {
  await using loader = await openStateLoader(target(newDir()))
  expect(loader.end()).toBe(emptyRoot)
})

it('snapshot/installState: a state with another root than its header is refused (STATE_ROOT_WRONG), and a block with another hash', async () => {
  const { chain, kv } = await executed
  const dir = newDir()
  const loader = await openStateLoader(target(dir))
  using reader = kv.snapshot()
  loadLatest(reader, loader)
  loader.account(new Uint8Array(32).fill(0xff), 1n, 1n, undefined)
  const genesis = chain.config.genesis.l2
  const blocks = givenBlocks(chain, 0, base)
  const install = (hash: Hash) => installState(loader, dir, { hash, blocks, genesis, trust: { grade: 'given' } })
  await expect(install(chain.blocks[base - 1]?.hash as Hash)).rejects.toMatchObject({ code: 'BASE_BLOCK_REFUSED' })
  await expect(install(chain.blocks[base]?.hash as Hash)).rejects.toMatchObject({ code: 'STATE_ROOT_WRONG' })
  // nothing of it is left: the next load begins again
  const next = await openStateLoader(target(dir))
  expect(next.counts).toEqual({ accounts: 0, slots: 0, codes: 0, bytes: 0 })
  loadLatest(reader, next)
  await installState(next, dir, { hash: chain.blocks[base]?.hash as Hash, blocks, genesis, trust: { grade: 'given' } })
})

/** The first block from 60 on that is the last one of a batch: a safe head after an L1 block. */
const batchEnd = readRecordedChain('op-bedrock-to-holocene').safeHeads.find((number) => number >= base) ?? 0

/** Begins a chain at a block, derives the rest, and compares it with the recording and with the state of a node that executed everything. */
async function deriveFrom(at: number, bodiesFrom: number): Promise<void> {
  const { chain, kv } = at === base ? await executed : await executeRecorded('op-bedrock-to-holocene', at)
  const dir = newDir()
  const loader = await openStateLoader(target(dir))
  {
    using reader = kv.snapshot()
    loadLatest(reader, loader)
  }
  const hash = chain.blocks[at]?.hash as Hash
  const blocks = givenBlocks(chain, 0, at).map((block, number) => (number < bodiesFrom ? { header: block.header } : block))
  const trust: Evidence = {
    grade: 'attested',
    l1: { number: 9, hash: chain.blocks[1]?.hash as Hash },
    game: parseAddress(`0x${'61'.repeat(20)}`),
  }
  await installState(loader, dir, { hash, blocks, genesis: chain.config.genesis.l2, trust })
  await using restored = openChainKv(dir)
  {
    using reader = restored.snapshot()
    expect(readBaseTrust(reader)).toEqual({ block: { number: at, hash }, ...trust })
  }
  const nodes = createRecordedNodes('op-bedrock-to-holocene', restored)
  const first = nodes.start()
  expect((await first.engine.heads()).finalized.hash).toBe(hash)
  await first.toTip()
  await first.stop()
  await first.engine.close()
  const again = nodes.start()
  await again.toTip()
  const { payloads } = nodes
  for (const { blockNumber, blockHash } of payloads.slice(at)) expect((await again.engine.payload(blockNumber))?.blockHash).toBe(blockHash)
  expect((await again.engine.heads()).safe.hash).toBe(payloads.at(-1)?.blockHash)
  await again.stop()
  await again.engine.close()
  const whole = await executeRecorded('op-bedrock-to-holocene', payloads.length - 1)
  using found = restored.snapshot()
  using expected = whole.kv.snapshot()
  for (const table of stateTables) expect(rowsOf(found, table), `table ${table}`).toEqual(rowsOf(expected, table))
}

const starts: readonly [string, number, number][] = [
  ['block 60, with headers below block 40', base, 40],
  ['block 60, with all blocks below it', base, 0],
  ['the end of a batch, with no more than headers below it', batchEnd, batchEnd],
]
it.each(sampleOf(starts.slice(0, 1), starts))(
  'snapshot/installState: a chain that begins at %s is derived from L1 to its end, with equal state rows',
  (_what, at, bodiesFrom) => deriveFrom(at, bodiesFrom),
  120_000,
)

it('snapshot/stateLoader: keys and values may be views of a buffer that the caller uses again', async () => {
  const load = async (fill: (bytes: Buffer) => Uint8Array) => {
    await using loader = await openStateLoader(target(newDir()))
    const shared = Buffer.alloc(32)
    const put = (byte: number) => fill(shared.fill(byte))
    for (const account of [1, 2, 3]) {
      loader.account(put(account), BigInt(account), 5n, undefined)
      for (const slot of [4, 5, 6]) loader.slot(put(slot), Uint8Array.of(slot))
    }
    return loader.end()
  }
  expect(await load((bytes) => bytes.subarray(0))).toBe(await load((bytes) => new Uint8Array(bytes)))
})

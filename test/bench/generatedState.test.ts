// The generated state of the benches against states that the program builds from the same accounts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GenesisAccount } from '#chainspec/genesis'
import { bigintFromBytes, compareBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { latestState, writeGenesis } from '#state/chainState'
import { genesisState } from '#state/genesisState'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { rpcCall } from '#test/harness/process/cliProcess'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { addressFromBytes, type Hash, hashFromBytes } from '#types/ids'
import { createDenimChain } from '../../bench/denim/chain.ts'
import { senders } from '../../bench/denim/senders.ts'
import { makeBlocks } from '../../bench/state/blocks.ts'
import { routerCode } from '../../bench/state/codes.ts'
import { HashOrder } from '../../bench/state/hashOrder.ts'
import { insertAll, readPayloads } from '../../bench/state/measure.ts'
import type { StateModel } from '../../bench/state/model.ts'
import { startStateNode } from '../../bench/state/node.ts'
import { makeStateWorld, readStateWorld, type StateWorld } from '../../bench/state/world.ts'

const spec = { seed: 7, accounts: 1_000, slots: 8_000 }
const folder = mkdtempSync(join(tmpdir(), 'basalt-generated-state-'))
let world: StateWorld & { readonly root: Hash }

beforeAll(async () => {
  world = await makeStateWorld(join(folder, 'first'), spec, () => {})
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns all accounts of a generated state, in the form of a genesis allocation. */
function allocationOf(model: StateModel): GenesisAccount[] {
  const accounts: GenesisAccount[] = [...createDenimChain(folder, senders).genesis().accounts]
  accounts.push({ address: model.router, nonce: 1n, balance: 0n, code: routerCode, storage: new Map() })
  for (let index = 0; index < model.spec.accounts; index++) {
    const { address, nonce, balance, code, rank } = model.account(index)
    const storage = new Map<Hash, bigint>()
    for (let at = 0; rank !== undefined && at < model.slotsOf(rank); at++) {
      storage.set(hashFromBytes(model.slotNumber(rank, at)), bigintFromBytes(model.slotValue(rank, at)))
    }
    accounts.push({ address: addressFromBytes(address), nonce, balance, code: code.code, storage })
  }
  return accounts
}

it('bench/state: the generated root and rows are those of a genesis allocation with the same accounts', async () => {
  const { diff, result } = genesisState(allocationOf(world.model))
  expect(world.root).toBe(result.root)
  await using expected = createMemoryKv()
  expected.write((tx) => writeGenesis(tx, diff, result))
  await using found = openLmdbKv(join(world.dir, 'chain'), Object.values(tables))
  using expectedRows = expected.snapshot()
  using foundRows = found.snapshot()
  for (const table of [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]) {
    const rowsOf = (rows: typeof foundRows): string[] =>
      Array.from(rows.range(table.id, {}), ({ key, value }) => `${toHex(key)} ${toHex(value)}`)
    const wanted = rowsOf(expectedRows)
    expect(wanted.length).toBeGreaterThan(20)
    expect(rowsOf(foundRows)).toEqual(wanted)
  }
}, 120_000)

it('bench/state: reads of the store equal the model, for slots and accounts chosen over the whole state', async () => {
  await using kv = openLmdbKv(join(world.dir, 'chain'), Object.values(tables))
  using reader = kv.snapshot()
  const { view } = latestState(reader, () => undefined)
  const { model } = world
  for (let n = 0; n < spec.slots; n += 37) {
    const { rank, at } = model.locate(n)
    const value = view.slot(keccak256(model.addressOf(rank)), keccak256(model.slotNumber(rank, at)))
    expect(value).toEqual(padLeft(model.slotValue(rank, at), 32))
  }
  for (let index = 0; index < spec.accounts; index += 7) {
    const { address, nonce, balance, code } = model.account(index)
    expect(view.account(keccak256(address))).toMatchObject({ nonce, balance, codeHash: code.hash })
  }
})

it('bench/state: the same seed gives the same root, another seed another root', async () => {
  const small = { ...spec, slots: 1_000 }
  const [first, again, other] = await Promise.all([
    makeStateWorld(join(folder, 'small'), small, () => {}),
    makeStateWorld(join(folder, 'again'), small, () => {}),
    makeStateWorld(join(folder, 'other'), { ...small, seed: 8 }, () => {}),
  ])
  expect(again.config.genesis.l2.hash).toBe(first.config.genesis.l2.hash)
  expect(again.root).toBe(first.root)
  expect(other.root).not.toBe(first.root)
}, 120_000)

it('bench/state: a node serves the generated state, executes blocks built on it, and returns to genesis', async () => {
  const read = readStateWorld(world.dir)
  const payloads = readPayloads((await makeBlocks(read, 2)).path)
  expect(payloads).toHaveLength(4)
  await using node = await startStateNode(read)
  const genesis = (await rpcCall(node.url, 'eth_getBlockByNumber', ['latest', false])) as { number: string; stateRoot: string }
  expect(genesis).toMatchObject({ number: '0x0', stateRoot: world.root })
  const { rank, at } = read.model.locate(0)
  const slot = [toHex(read.model.addressOf(rank)), toHex(read.model.slotNumber(rank, at)), 'latest']
  expect(await rpcCall(node.url, 'eth_getStorageAt', slot)).toBe(toHex(padLeft(read.model.slotValue(rank, at), 32)))
  const balanceOf = `0x70a08231${senders[0]?.slice(2).padStart(64, '0')}`
  const call = [{ to: toHex(read.model.addressOf(0)), data: balanceOf }, 'latest']
  expect(BigInt((await rpcCall(node.url, 'eth_call', call)) as string)).toBe(10n ** 24n)
  const labels = await node.engine.heads()
  expect(await insertAll(node.engine, read, payloads)).toHaveLength(4)
  expect(await rpcCall(node.url, 'eth_blockNumber')).toBe('0x4')
  await node.engine.setHeads(labels)
  expect(await rpcCall(node.url, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ number: '0x0', stateRoot: world.root })
}, 120_000)

it('bench/state: indices in the order of their hashes, in one pass and in several', () => {
  const keyOf = (index: number): Uint8Array => keccak256(fromHex(`0x${index.toString(16).padStart(8, '0')}`))
  for (const [count, space] of [
    [5_000, 8_192],
    [5_000, 700],
    [1, 10],
    [0, 10],
  ] as const) {
    const sorted = Array.from({ length: count }, (_, index) => ({ index, key: keyOf(index) })).sort((a, b) => compareBytes(a.key, b.key))
    expect([...new HashOrder(space).of(count, keyOf)]).toEqual(sorted)
  }
})

it('bench/state: keys whose first bits are equal are sorted too', () => {
  const keyOf = (index: number): Uint8Array => {
    const key = new Uint8Array(32)
    key[0] = (index * 7) & 3
    key[31] = (index * 11) & 255
    return key
  }
  const keys = [...new HashOrder().of(200, keyOf)].map(({ key }) => key)
  expect(keys).toEqual([...keys].sort(compareBytes))
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { latestState } from '#state/chainState'
import { readDigests, writeDigests } from '#state/digests/digests'
import { enterFetched, type FetchedState, placeNodes } from '#state/fetchedState'
import { blockRowKey } from '#state/nodeHistory'
import { changeKey } from '#state/rows'
import type { StateSource } from '#state/stateSource'
import { openChainKv } from '#store/chainTables'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { attributesOf, payloadsOf } from '#test/harness/chain/l2Blocks'
import { dump, readNow } from '#test/harness/chain/olderSchemas'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { installAnchor, rootAt } from '#test/harness/snapshot/anchoredChain'
import { executeRecorded } from '#test/harness/snapshot/loadRecorded'
import { WholeNode } from '#test/harness/state/wholeNode'
import { createProof } from '#trie/proof'
import { emptyRoot, type Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { CompletedEngine, StateCompletion } from './completedEngine.ts'
import { createExecution, type Execution } from './execution.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-partial-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const noHash = (): undefined => undefined
/** A block of Ecotone. Fjord, Granite, Holocene, Isthmus and Jovian come after it. */
const anchor = 3
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]

/** Inserts blocks as a node does that follows a chain: each one becomes the head, some after a side block that was committed. */
async function follow(config: RollupConfig, execution: Execution, source: StateSource, payloads: readonly Payload[]): Promise<void> {
  const engine = new CompletedEngine(execution, new StateCompletion(execution, source))
  const lead = async (unsafe: Payload): Promise<void> => engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, unsafe) })
  for (const payload of payloads) {
    const { blockNumber: number, parentHash } = payload
    if (number % 9 === 0) {
      const side = await engine.build({ number: number - 1, hash: parentHash }, attributesOf(payload, payload.transactions.slice(0, 2)))
      if (side.kind === 'invalid') expect.fail(side.reason)
      await lead(side.payload)
      execution.commit()
    }
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await lead(payload)
    if (number % 4 === 0) execution.commit()
  }
}

/** Returns all nodes and codes of the latest state. */
function everything(reader: KvReader, head: number): FetchedState {
  const stateRoot = rootAt(reader, head)
  const { nodes, view } = latestState(reader, noHash)
  const bag = new Map<string, Uint8Array>()
  const add = (owner: Uint8Array | undefined, root: Hash, key: Uint8Array): void => {
    for (const rlp of createProof(nodes, owner, root, key)) bag.set(toHex(keccak256(rlp)), rlp)
  }
  for (const key of reader.keys(tables.accounts.id, {})) add(undefined, stateRoot, key)
  for (const key of reader.keys(tables.storage.id, {})) {
    const owner = key.subarray(0, 32)
    add(owner, view.account(owner)?.storageRoot ?? emptyRoot, key.subarray(32))
  }
  return { nodes: placeNodes(bag, stateRoot), codes: Array.from(reader.range(tables.code.id, {}), ({ value }) => value) }
}

/** Returns what blocks above the anchor have changed, for unwinds and older states. */
function changesAbove(reader: KvReader): ReadonlyMap<string, Hex> {
  const rows = new Map<string, Hex>()
  const add = (name: string, table: number, from: Uint8Array, to?: Uint8Array): void => {
    for (const { key, value } of reader.range(table, to ? { from, to } : { from })) rows.set(`${name} ${toHex(key)}`, toHex(value))
  }
  add('changes', tables.changes.id, changeKey(anchor + 1, 0, new Uint8Array()))
  add('nodes', tables.nodeHistory.id, blockRowKey(anchor + 1), blockRowKey(10_000))
  return rows
}

it('blockchain/completedEngine: a chain on a state that knows nothing at first has the blocks, rows and changes of a whole one', async () => {
  const last = 110
  const { chain, kv: whole } = await executeRecorded('op-ecotone-to-jovian', last)
  const { config, genesis, blocks } = chain
  const payloads = payloadsOf(blocks)
  const source = new WholeNode(whole)
  const dir = join(folder, 'chain')
  await installAnchor(chain, whole, anchor, dir)
  for (const [from, to] of [
    [anchor + 1, 55],
    [56, last],
  ] as const) {
    await using kv = openChainKv(dir)
    // rows of both are compared
    kv.write((tx) => writeDigests(tx, readNow(whole, readDigests)))
    await using execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
    await follow(config, execution, source, payloads.slice(from, to + 1))
  }
  expect(new Set(source.requests.map(({ wanted }) => wanted.kind))).toEqual(new Set(['account', 'code', 'slot']))
  await using kv = openChainKv(dir)
  const [found, expected] = [kv, whole].map((each) => readNow(each, (reader) => dump(reader, stateTables)))
  expect(found?.size).toBeLessThan((expected?.size ?? 0) / 2)
  for (const [row, value] of found as Map<string, Hex>) expect([row, value]).toEqual([row, expected?.get(row)])
  expect(readNow(kv, changesAbove)).toEqual(readNow(whole, changesAbove))
  const all = readNow(whole, (reader) => everything(reader, last))
  kv.write((tx) => enterFetched(tx, all))
  expect(readNow(kv, (reader) => dump(reader, stateTables))).toEqual(expected)
}, 120_000)

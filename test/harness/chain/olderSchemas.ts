import { concatBytes, u64Bytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { unwindState } from '#state/chainState'
import { indexHistory } from '#state/history'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import type { Touch } from './stateModel.ts'

const nodeTables = [tables.accountNodes, tables.storageNodes]

/** Returns all rows of some tables. */
export function dump(reader: KvReader, from: readonly { id: number; name: string }[]): Map<string, Hex> {
  const rows = new Map<string, Hex>()
  for (const { id, name } of from) for (const { key: at, value } of reader.range(id, {})) rows.set(`${name} ${toHex(at)}`, toHex(value))
  return rows
}

export function readNow<T>(kv: Kv, read: (reader: KvReader) => T): T {
  using snapshot = kv.snapshot()
  return read(snapshot)
}

/** A chain of states: `models` has one for each block. */
type Appending = { readonly kv: Kv; readonly models: readonly unknown[]; append(block: readonly Touch[]): void }

const changeOf = (number: number, table: number, key: Uint8Array): Uint8Array => concatBytes(u64Bytes(number), Uint8Array.of(table), key)

const mark = (name: string): Uint8Array => new TextEncoder().encode(name)

/** Replaces the runs of the history index by what schema 5 had. @param upTo the last block in its index */
export function indexAsSchema5(tx: KvWriter, upTo: number): void {
  for (const key of tx.keys(tables.historyIndex.id, { from: Uint8Array.of(0x40) })) tx.delete(tables.historyIndex.id, key)
  tx.delete(tables.meta.id, mark('state.runs'))
  indexHistory(tx, upTo)
}

/** Appends a block, and replaces its runs of the index by what schema 5 had. @param isIndexed whether the index has the block */
export function appendAsSchema5(chain: Appending, block: readonly Touch[], isIndexed: boolean): void {
  const number = chain.models.length
  chain.append(block)
  chain.kv.write((tx) => indexAsSchema5(tx, isIndexed ? number : number - 1))
}

/** As `appendAsSchema5`, and replaces its row of node changes by those that schema 3 had: the whole node before the block, among its other changes. */
export function appendAsSchema3(chain: Appending, block: readonly Touch[]): void {
  const { kv } = chain
  const number = chain.models.length
  const nodes = (): Map<string, Hex> => readNow(kv, (reader) => dump(reader, nodeTables))
  const before = nodes()
  appendAsSchema5(chain, block, false)
  const after = nodes()
  kv.write((tx) => {
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(name), after.get(name)]
      if (was === is) continue
      const [table = '', at = '0x'] = name.split(' ')
      const id = nodeTables.find((spec) => spec.name === table)?.id ?? 0
      tx.put(
        tables.changes.id,
        changeOf(number, id, fromHex(at as Hex)),
        was ? concatBytes(Uint8Array.of(1), fromHex(was)) : Uint8Array.of(0),
      )
    }
    for (const key of tx.keys(tables.nodeHistory.id, {})) tx.delete(tables.nodeHistory.id, key)
    tx.delete(tables.meta.id, mark('state.nodes'))
  })
  if (number % 8 === 0) kv.write((tx) => indexHistory(tx, number))
}

type Rows = ReadonlyMap<Hex, Hex>
const none: Rows = new Map()

/** Returns all trie nodes by table and key. */
const nodesIn = (reader: KvReader): Rows =>
  new Map(
    nodeTables.flatMap(({ id }) =>
      [...reader.range(id, {})].map(({ key, value }) => [toHex(concatBytes(Uint8Array.of(id), key)), toHex(value)] as const),
    ),
  )

/** Returns the trie nodes after each block, from the last one down, by unwinding in a transaction that is not committed. */
function nodesByBlock(kv: Kv, blocks: number): readonly Rows[] {
  const found: Rows[] = []
  const notCommitted = new Error('not committed')
  try {
    kv.write((tx) => {
      for (let number = blocks; number >= 0; number--) {
        found.push(nodesIn(tx))
        if (number > 0) unwindState(tx, number)
      }
      throw notCommitted
    })
  } catch (error) {
    if (error !== notCommitted) throw error
  }
  return found.reverse()
}

/** Iterates over the trie nodes that a block changed, as rows of schema 3. */
function* nodeChanges(nodes: readonly Rows[], number: number): Generator<{ readonly row: Hex; readonly change: Uint8Array }> {
  const [before, after] = [nodes[number - 1] ?? none, nodes[number] ?? none]
  for (const row of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(row)
    if (was !== after.get(row)) yield { row, change: was ? concatBytes(Uint8Array.of(1), fromHex(was)) : Uint8Array.of(0) }
  }
}

/**
 * Rewrites a chain as schema 3 wrote it: with whole trie nodes among the changes of each block, and in the history index.
 * @param blocks number of the head @param indexed the last block in the index
 */
export function asSchema3(kv: Kv, { blocks, indexed }: { readonly blocks: number; readonly indexed: number }): void {
  const nodes = nodesByBlock(kv, blocks)
  kv.write((tx) => {
    for (let number = 1; number <= blocks; number++) {
      for (const { row, change } of nodeChanges(nodes, number))
        tx.put(tables.changes.id, concatBytes(u64Bytes(number), fromHex(row)), change)
    }
    indexAsSchema5(tx, indexed)
    for (const key of [...tx.keys(tables.nodeHistory.id, {})]) tx.delete(tables.nodeHistory.id, key)
    tx.delete(tables.meta.id, mark('state.nodes'))
    tx.put(tables.meta.id, mark('schema'), u64Bytes(3))
  })
}

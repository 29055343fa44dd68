import { concatBytes, u64Bytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
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

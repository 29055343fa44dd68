import { decodeRlp, encodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const key = encoder.encode('state.load')

/** Mark of a store whose state is being loaded: no chain in it can be read. */
export type LoadMark = {
  /** identity of the state that is loaded */
  readonly source: string
  /** command that continues, for the operator */
  readonly command: string
  /** progress, in the loader's own format */
  readonly progress: Uint8Array
}

/** Row of a mark. */
export function loadMarkRow({ source, command, progress }: LoadMark): {
  readonly table: number
  readonly key: Uint8Array
  readonly value: Uint8Array
} {
  return { table: tables.meta.id, key, value: encodeRlp([encoder.encode(source), encoder.encode(command), progress]) }
}

/** Returns the mark; undefined when no load is under way. @throws RlpError on a damaged mark */
export function readLoadMark(reader: Pick<KvReader, 'get'>): LoadMark | undefined {
  const row = reader.get(tables.meta.id, key)
  if (row === undefined) return undefined
  const [source, command, progress] = rlpList(decodeRlp(row), 'load mark').map((item) => rlpBytes(item, 'part'))
  return { source: decoder.decode(source), command: decoder.decode(command), progress: progress?.slice() ?? new Uint8Array(0) }
}

/** Ends the load. */
export function dropLoadMark(tx: KvWriter): void {
  tx.delete(tables.meta.id, key)
}

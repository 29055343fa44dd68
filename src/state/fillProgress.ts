import { emptyBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { decodeRlp, encodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { dropMark } from './rows.ts'
import type { StatePosition } from './stateCheck.ts'

const key = new TextEncoder().encode('state.fill')

/** Progress of the fill of a partial state (ADR 0043), stored with the parts that it covers. */
export type FillProgress = {
  /** `walk`: keys before the position are stored; `check`: all keys are stored, and those before the position are checked */
  readonly phase: 'walk' | 'check'
  readonly position: StatePosition
  /** leaves and bytes of all answers, also of earlier runs */
  readonly accounts: number
  readonly slots: number
  readonly bytes: number
}

/** Begin of a phase. */
export const firstPosition: StatePosition = { account: new Uint8Array(32), slot: undefined }
export const noProgress: FillProgress = { phase: 'walk', position: firstPosition, accounts: 0, slots: 0, bytes: 0 }

/** Writes the progress, while the state is partial. */
export function writeFill(tx: KvWriter, { phase, position, accounts, slots, bytes }: FillProgress): void {
  const row = [phase === 'walk' ? Uint8Array.of(1) : Uint8Array.of(2), position.account, position.slot ?? emptyBytes]
  tx.put(tables.meta.id, key, encodeRlp([...row, ...[accounts, slots, bytes].map(u64Bytes)]))
}

/** Returns the stored progress. @throws RlpError on a damaged row */
export function readFill(reader: Pick<KvReader, 'get'>): FillProgress {
  const row = reader.get(tables.meta.id, key)
  if (row === undefined) return noProgress
  const [phase, account, slot, ...counts] = rlpList(decodeRlp(row), 'fill').map((item) => rlpBytes(item, 'part').slice())
  const [accounts = 0, slots = 0, bytes = 0] = counts.map(u64FromBytes)
  const position = { account: account ?? emptyBytes, slot: slot && slot.length > 0 ? slot : undefined }
  return { phase: phase?.[0] === 1 ? 'walk' : 'check', position, accounts, slots, bytes }
}

/** Makes a state whole: nothing of it is unknown. The caller has checked it. */
export function endFill(tx: KvWriter): void {
  tx.delete(tables.meta.id, key)
  dropMark(tx, 'partial')
}

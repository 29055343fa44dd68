import { compareBytes, concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { KvReader } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { type TableSpec, tables } from '#store/tables'
import { nibblesOf } from '#trie/nibbles'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { decodeAccountRow } from './account.ts'
import { blockRowKey } from './nodeHistory.ts'
import { RowCursor } from './rowCursor.ts'
import { lowestWith, pathAfter } from './rowState.ts'
import { changeKey, codeTable, readMark } from './rows.ts'
import { TrieCheck } from './trieCheck.ts'

/** The next account, and the next slot in it. Rows before the position are checked. */
export type StatePosition = { readonly account: Uint8Array; readonly slot: Uint8Array | undefined }

/**
 * Check of the latest accounts, slots and trie nodes against a state root, from a position on, for as long as the watch has time.
 *
 * A state that changes cannot be compared with one root unless a snapshot is held throughout, which would make the database grow by every page written
 * meanwhile. Therefore each run starts at the root of its own snapshot, the one in the header of the snapshot's head, and follows hashes down to the
 * position. Every row of the run's key range is thus proved against that root: it belongs to that state, with that value, and no other row is in the
 * range. The runs cover all keys. A row is proved at the state of the run that visits it, and not again when a later block writes it.
 */
class StateCheck implements Disposable {
  readonly #reader: KvReader
  readonly #from: StatePosition | undefined
  readonly #watch: CheckWatch
  readonly #cursors: readonly RowCursor[]
  readonly #accounts: RowCursor
  readonly #accountNodes: RowCursor
  readonly #slots: RowCursor
  readonly #slotNodes: RowCursor
  #rows = 0
  /** Where a check of storage ended early. */
  #stoppedAt: StatePosition | undefined

  constructor(reader: KvReader, from: StatePosition | undefined, watch: CheckWatch) {
    this.#reader = reader
    this.#from = from
    this.#watch = {
      ...watch,
      onRow: (): void => {
        this.#rows++
        watch.onRow()
      },
    }
    const account = from?.account ?? emptyBytes
    const slot = from?.slot ?? emptyBytes
    const cursorAt = (table: TableSpec, at: Uint8Array, keysOnly = false): RowCursor =>
      new RowCursor(reader, table, { from: at, keysOnly, report: watch.report })
    this.#accounts = cursorAt(tables.accounts, account)
    this.#accountNodes = cursorAt(tables.accountNodes, nibblesOf(account), true)
    this.#slots = cursorAt(tables.storage, concatBytes(account, slot))
    this.#slotNodes = cursorAt(tables.storageNodes, concatBytes(account, nibblesOf(slot)), true)
    this.#cursors = [this.#accounts, this.#accountNodes, this.#slots, this.#slotNodes]
  }

  run(root: Hash): StatePosition | undefined {
    const accounts = new TrieCheck({
      ...this.#common(),
      owner: undefined,
      flat: this.#accounts,
      nodes: this.#accountNodes,
      from: this.#from?.account,
      onLeaf: (key, row): boolean => this.#account(key, row),
      onSkip: (path): void => this.#skipStorage(path),
    })
    if (root === emptyRoot || accounts.check(fromHex(root))) {
      for (const cursor of this.#cursors) cursor.passTo(undefined)
      return undefined
    }
    const account = accounts.stoppedAt
    if (account === undefined) return this.#stoppedAt
    this.#slots.passTo(account)
    this.#slotNodes.passTo(account)
    return { account, slot: undefined }
  }

  #common(): { reader: KvReader; watch: CheckWatch; isDue: () => boolean } {
    return { reader: this.#reader, watch: this.#watch, isDue: (): boolean => this.#rows > 0 && !this.#watch.hasTime() }
  }

  #account(key: Uint8Array, row: Uint8Array): boolean {
    const from = this.#from
    if (from && compareBytes(key, from.account) < 0) return true
    // an account in whose storage the last run ended is counted already; a run makes progress although it reads it again
    const slot = from && equalBytes(key, from.account) ? from.slot : undefined
    if (slot === undefined) this.#watch.onRow()
    const { codeHash, storageRoot } = decodeAccountRow(row)
    if (codeHash !== emptyCodeHash && this.#reader.look(codeTable, fromHex(codeHash), () => true) === undefined) {
      this.#watch.report({ table: tables.code.name, key: codeHash, expected: `the code of account ${toHex(key)}`, found: 'no row' })
    }
    this.#slots.passTo(key)
    this.#slotNodes.passTo(key)
    if (storageRoot === emptyRoot) return true
    const slots = new TrieCheck({
      ...this.#common(),
      owner: key,
      flat: this.#slots,
      nodes: this.#slotNodes,
      from: slot,
      onLeaf: (): boolean => {
        this.#watch.onRow()
        return true
      },
      onSkip: (): void => {},
    })
    if (slots.check(fromHex(storageRoot))) return true
    this.#stoppedAt = { account: key, slot: slots.stoppedAt }
    return false
  }

  /** Leaves out the storage of accounts whose rows cannot be checked, because their storage roots are unknown. */
  #skipStorage(path: Uint8Array): void {
    const next = pathAfter(path)
    const first = lowestWith(path)
    const end = next && lowestWith(next)
    this.#slots.passTo(first)
    this.#slotNodes.passTo(first)
    this.#slots.seek(end)
    this.#slotNodes.seek(end)
  }

  [Symbol.dispose](): void {
    for (const cursor of this.#cursors) cursor[Symbol.dispose]()
  }
}

/** Runs a check of the latest state. @see StateCheck @returns where the next run continues; undefined at the end */
export function checkState(reader: KvReader, root: Hash, from: StatePosition | undefined, watch: CheckWatch): StatePosition | undefined {
  using check = new StateCheck(reader, from, watch)
  return check.run(root)
}

/** Checks that each code has the hash of its key. @param from first key @returns the next key; undefined at the end */
export function checkCodes(reader: KvReader, from: Uint8Array, watch: CheckWatch): Uint8Array | undefined {
  let isFirst = true
  for (const { key, value } of reader.range(codeTable, { from })) {
    if (!isFirst && !watch.hasTime()) return key
    isFirst = false
    watch.onRow()
    const hash = keccak256(value)
    if (equalBytes(hash, key)) continue
    watch.report({
      table: tables.code.name,
      key: toHex(key),
      expected: 'code with the hash of its key',
      found: `code with hash ${toHex(hash)}`,
    })
  }
  return undefined
}

/** Checks the marks of the state and the ends of the recorded changes. @param head number of the last block */
export function checkStateMarks(reader: KvReader, head: number, watch: CheckWatch): void {
  const report = (mark: string, expected: string, found: unknown): void =>
    watch.report({ table: tables.meta.name, key: toHex(Buffer.from(mark)), expected: `${mark} ${expected}`, found: String(found) })
  const found = readMark(reader, 'head')
  if (found !== head) report('state.head', `= ${head}, the number of the head`, found)
  for (const mark of ['indexed', 'runs', 'oldest', 'oldestNodes'] as const) {
    const number = readMark(reader, mark) ?? 0
    if (number > head) report(`state.${mark}`, `≤ ${head}`, number)
  }
  const first = { changes: changeKey(head + 1, 0, emptyBytes), nodeHistory: blockRowKey(head + 1) }
  const ends = [
    [tables.changes, { from: first.changes }],
    [tables.nodeHistory, { from: first.nodeHistory, to: Uint8Array.of(1) }],
  ] as const
  for (const [table, range] of ends) {
    for (const key of reader.keys(table.id, { ...range, limit: 1 })) {
      watch.report({ table: table.name, key: toHex(key), expected: `no changes after block ${head}`, found: 'a row' })
    }
  }
}

import { compareBytes, equalBytes, latin1 } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import { Lru } from '#lib/lru'
import { valuesIn } from '#proofs/valueRow'
import { decodeAccountRow } from '#state/account'
import { type RowListener, restoreValues } from '#state/chainState'
import type { Digests } from '#state/digests/digests'
import type { RowChange } from '#state/history'
import { NodeChanges } from '#state/nodeHistory'
import { accountsTable, codeTable, storageTable } from '#state/rows'
import type { KvWriter } from '#store/ports'
import { Tries } from '#trie/tries'
import { emptyCodeHash, type Hash } from '#types/ids'
import { FormatError } from '../format/byteReader.ts'

/** What a block changed, verified: values before it, and, if they are wanted, its trie nodes before it as a row of `state/nodeHistory.ts`. */
export type UndoneBlock = { readonly number: number; readonly values: readonly RowChange[]; readonly nodes: Uint8Array | undefined }

/** Bytes of trie nodes that consecutive blocks share. */
const cacheBytes = 96 * 2 ** 20
/** Code hashes that are known to be stored. */
const knownCodes = 65_536

const nameOf = (table: number, key: Uint8Array): string => String.fromCharCode(table) + latin1(key)
const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean => (a && b ? equalBytes(a, b) : a === b)

/** Undoes blocks with values of another node, newest first, in the rows of a state. */
export class BlockUndoer {
  readonly #tries = new Tries(cacheBytes)
  readonly #digests: Digests | undefined
  readonly #codes = new Lru<string, true>(knownCodes)

  /** @param digests of the receiver of trie nodes; absent: none are wanted */
  constructor(digests: Digests | undefined) {
    this.#digests = digests
  }

  /**
   * Undoes the last block of the rows. Its values must be those of all accounts and slots that it changed, and lead to the state root of its parent.
   * @param row of values, as of `proofs/valueRow.ts`
   * @throws FormatError; the transaction must be dropped then
   */
  undo(tx: KvWriter, number: number, row: Uint8Array, parentRoot: Hash): UndoneBlock {
    const values = parseValues(number, row)
    const check = new UndoCheck(number, values, this.#digests && new NodeChanges(number, this.#digests.at(number)))
    const root = this.#restore(tx, number, values, check.onRow)
    if (root !== parentRoot)
      throw new FormatError(`its values before block ${number} lead to the state root ${root}, expected ${parentRoot}`)
    check.end(tx)
    for (const { table, before } of values) if (table === accountsTable && before) this.#requireCode(tx, decodeAccountRow(before).codeHash)
    return { number, values: check.values(), nodes: check.nodes?.encode() }
  }

  #restore(tx: KvWriter, number: number, values: readonly RowChange[], onRow: RowListener): Hash {
    try {
      return restoreValues(tx, values, onRow, this.#tries)
    } catch (error) {
      // slots of an account that does not exist
      if (error instanceof RangeError)
        throw new FormatError(`its values before block ${number} are of no state: ${error.message}`, { cause: error })
      throw error
    }
  }

  #requireCode(tx: KvWriter, hash: Hash): void {
    if (hash === emptyCodeHash || this.#codes.get(hash)) return
    if (tx.look(codeTable, fromHex(hash), () => true) === undefined) throw new FormatError(`the code ${hash} of its values is missing`)
    this.#codes.set(hash, true, 1)
  }
}

/** Parses a row of values. @throws FormatError unless it is in its only form */
export function parseValues(number: number, row: Uint8Array): readonly RowChange[] {
  try {
    const values = [...valuesIn(row)]
    for (const [index, { table, key }] of values.entries()) {
      const last = values[index - 1]
      const isAbove = last === undefined || table > last.table || (table === last.table && compareBytes(key, last.key) > 0)
      if (!isAbove) throw new FormatError(`its values before block ${number} do not ascend`)
    }
    return values
  } catch (error) {
    if (!isFault(error, 'PROOFS_ROW_DAMAGED')) throw error
    throw new FormatError(`its values before block ${number} are damaged: ${error.message}`, { cause: error })
  }
}

/** Compares the rows that undoing a block writes with its values. */
class UndoCheck {
  readonly nodes: NodeChanges | undefined
  readonly #number: number
  readonly #values: readonly RowChange[]
  readonly #byName: ReadonlyMap<string, RowChange>
  readonly #written = new Set<RowChange>()
  readonly #deleted = new Set<RowChange>()

  constructor(number: number, values: readonly RowChange[], nodes: NodeChanges | undefined) {
    this.#number = number
    this.#values = values
    this.#byName = new Map(values.map((change) => [nameOf(change.table, change.key), change]))
    this.nodes = nodes
  }

  /** @param after the block @param before the block */
  readonly onRow: RowListener = (table, key, after, before) => {
    if (table !== accountsTable && table !== storageTable) {
      this.nodes?.add(table, key, before, after)
      return
    }
    const change = this.#byName.get(nameOf(table, key))
    if (change === undefined) throw this.#wrong(key, 'is missing')
    if (!isSame(change.before, before)) throw this.#wrong(key, 'is another one')
    this.#written.add(change)
    if (before !== undefined && after === undefined) this.#deleted.add(change)
  }

  /** Compares the values of rows that were not written with the rows. */
  end(tx: KvWriter): void {
    for (const change of this.#values) {
      const { table, key, before } = change
      if (!this.#written.has(change) && !isSame(tx.get(table, key), before)) throw this.#wrong(key, 'is another one')
    }
  }

  values(): readonly RowChange[] {
    return this.#values.map((change) => ({ ...change, isDeleted: this.#deleted.has(change) }))
  }

  #wrong(key: Uint8Array, what: string): Error {
    return new FormatError(`the value of ${toHex(key)} before block ${this.#number} ${what}`)
  }
}

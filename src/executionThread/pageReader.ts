import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeAccountRow } from '#state/account'
import { accountsTable, nodeKey, storageTable } from '#state/rows'
import type { KvReader } from '#store/ports'
import { nibblesOf } from '#trie/nibbles'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'
import type { NotedKeys } from './keyRing.ts'
import type { SlotRules } from './slotRules.ts'

/** Accounts and slots that are read of an access list. Execution notes the keys of those that it uses. */
const maxListed = 64

const ignore = (): void => {}
const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))

/** Reads rows that the execution of a block will read, so that their pages are in the page cache. */
export class PageReader {
  readonly #reader: KvReader
  readonly #rules: SlotRules

  constructor(reader: KvReader, rules: SlotRules) {
    this.#reader = reader
    this.#rules = rules
  }

  /**
   * Reads the rows of the sender, the target, the first entries of the access list, and the slots that `SlotRules` predicts; and the trie nodes above them.
   */
  transaction(sender: Address, tx: SignedTransaction): void {
    this.#account(keyOf(sender))
    if (tx.to) this.#call(sender, keyOf(tx.to), tx.data)
    let left = maxListed
    for (const { address, slots } of 'accessList' in tx ? tx.accessList : []) {
      if (left-- === 0) return
      const addressKey = keyOf(address)
      this.#account(addressKey)
      for (const slot of slots.slice(0, left)) this.#slot(addressKey, keyOf(slot))
      left -= Math.min(left, slots.length)
    }
  }

  /**
   * Reads the page of the lowest trie node above a key: the page to which a row of the key's own path would belong. The state root of the block needs
   * that node if the key's value changes.
   */
  nodes({ addressKey, slotKey }: NotedKeys): void {
    const { table, key } = slotKey ? nodeKey(addressKey, nibblesOf(slotKey)) : nodeKey(undefined, nibblesOf(addressKey))
    this.#reader.peek(table, key, ignore)
  }

  #call(sender: Address, addressKey: Uint8Array, data: Uint8Array): void {
    const codeHash = this.#reader.peek(accountsTable, addressKey, (row) => decodeAccountRow(row).codeHash)
    this.nodes({ addressKey, slotKey: undefined })
    if (codeHash === undefined || codeHash === emptyCodeHash) return
    for (const slotKey of this.#rules.slotsOf({ sender, addressKey, codeHash, data })) this.#slot(addressKey, slotKey)
  }

  #account(addressKey: Uint8Array): void {
    this.#reader.peek(accountsTable, addressKey, ignore)
    this.nodes({ addressKey, slotKey: undefined })
  }

  #slot(addressKey: Uint8Array, slotKey: Uint8Array): void {
    this.#reader.peek(storageTable, concatBytes(addressKey, slotKey), ignore)
    this.nodes({ addressKey, slotKey })
  }
}

import type { StateView } from '#evm/ports'
import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import type { Account } from '#types/account'
import { emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { grown, VersionedRows } from './versionedRows.ts'

// layout of a version: flags; for accounts code number, steps (+ 1) of the last wipe and the last slot write, nonce, balance; for slots the value
const [flagsAt, codeAt, wipedAt, storedAt, nonceAt, wordAt] = [0, 1, 2, 3, 4, 6]
const valueWords = wordAt + 8
/** The account does not exist; for a slot: the value is zero. */
const goneFlag = 1
/** Only slots of the account have changed: its fields are those of the state below. */
const asBelowFlag = 2
/** The account has slots in the state below. */
const storageFlag = 4

/** Slots of an account that a run has written (undefined: zero), and whether it has wiped its earlier slots. */
export type SlotChanges = {
  readonly wiped: boolean
  readonly slots: readonly { readonly key: Uint8Array; readonly value: Uint8Array | undefined }[]
}

/** Approximate memory of a code in addition to its bytes. */
const codeBytes = 150

/** Whether the values that a reader reads from the state below are kept, or only passed on. */
export type BelowReads = 'kept' | 'passed'

const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

/**
 * States between the steps of a run (the system calls of a block, and each of its transactions). It keeps the changes of each step by key, and the
 * values that were read from the state before the first step.
 */
export class ReplayStates {
  readonly #rows = new VersionedRows(valueWords)
  /** by row: the version with the value in the state below; 0: not read yet */
  #below = new Uint32Array(64)
  readonly #codes = new Map<Hash, Uint8Array>()
  readonly #codeNumbers = new Map<Hash, number>()
  readonly #codeHashes: Hash[] = []
  #steps = 0
  #codeBytes = 0

  /** Number of steps. */
  get steps(): number {
    return this.#steps
  }

  /** Approximate memory in bytes. */
  get sizeBytes(): number {
    return this.#rows.sizeBytes + 4 * this.#below.length + this.#codeBytes
  }

  /** Adds the changes of the next step. */
  add(diff: StateDiff): void {
    const step = this.#steps++
    for (const { key, change, wiped } of diff.accounts()) this.#addAccount(this.#rows.rowOf(key), step, change, wiped)
    for (const { addressKey, slotKey, value } of diff.slots()) {
      this.#noteStored(this.#rows.rowOf(addressKey), step)
      const version = this.#rows.push(this.#rows.rowOf(addressKey, slotKey), step)
      if (isZero(value)) this.#rows.setWord(version, flagsAt, goneFlag)
      else this.#rows.bytes(version, wordAt, 32).set(value)
    }
    for (const { hash, code } of diff.codes()) {
      this.#codes.set(hash, code)
      this.#codeBytes += codeBytes + code.length
    }
  }

  #addAccount(row: number, step: number, change: AccountChange | null, wiped: boolean): void {
    const rows = this.#rows
    const before = rows.versionBefore(row, step)
    const version = rows.push(row, step)
    rows.setWord(version, wipedAt, wiped ? step + 1 : rows.word(before, wipedAt))
    rows.setWord(version, storedAt, rows.word(before, storedAt))
    if (change === null) rows.setWord(version, flagsAt, goneFlag)
    else this.#writeAccount(version, change)
  }

  #writeAccount(version: number, { nonce, balance, codeHash }: AccountChange): void {
    this.#rows.setWord(version, codeAt, this.#codeNumber(codeHash))
    this.#rows.bytes(version, nonceAt, 8).set(bytesFromBigint(nonce, 8))
    this.#rows.bytes(version, wordAt, 32).set(bytesFromBigint(balance, 32))
  }

  #codeNumber(hash: Hash): number {
    const known = this.#codeNumbers.get(hash)
    if (known !== undefined) return known
    const number = this.#codeHashes.push(hash) - 1
    this.#codeNumbers.set(hash, number)
    this.#codeBytes += codeBytes
    return number
  }

  /** Records that the step has written a slot of the account. */
  #noteStored(row: number, step: number): void {
    const rows = this.#rows
    const last = rows.versionBefore(row, step + 1)
    if (last !== 0 && rows.stepOf(last) === step) {
      rows.setWord(last, storedAt, step + 1)
      return
    }
    const version = rows.push(row, step)
    if (last === 0) rows.setWord(version, flagsAt, asBelowFlag)
    else rows.copyValue(last, version)
    rows.setWord(version, storedAt, step + 1)
  }

  /**
   * Returns the state after a number of steps.
   * @param below the state before the first step: the same state each time, possibly from another snapshot
   * @param reads 'passed' for a reader that may read any number of keys
   */
  after(steps: number, below: StateView, reads: BelowReads = 'kept'): StateView {
    return {
      account: (addressKey): Account | undefined => this.#account(this.#rowFor(reads, addressKey), addressKey, steps, below),
      slot: (addressKey, slotKey): Uint8Array | undefined =>
        this.#slot(this.#rowFor(reads, addressKey, slotKey), addressKey, slotKey, steps, below),
      code: (hash): Uint8Array => this.#codes.get(hash) ?? below.code(hash),
      blockHash: (number): Hash | undefined => below.blockHash(number),
    }
  }

  /** Returns the changes of an account's storage in the steps. */
  slotsOf(addressKey: Uint8Array, steps: number): SlotChanges {
    const owner = this.#rows.find(addressKey)
    const wiped = this.#wipedBefore(owner, steps)
    const slots: SlotChanges['slots'][number][] = []
    for (let row = 1; row <= this.#rows.rows; row++) {
      const [key, slotKey] = this.#rows.keyOf(row)
      const isOwn = row !== owner && key.every((byte, i) => byte === addressKey[i])
      const written = isOwn ? this.#rows.versionBefore(row, steps) : 0
      if (written !== 0 && this.#rows.stepOf(written) + 1 >= wiped) slots.push({ key: slotKey.slice(), value: this.#slotAt(written) })
    }
    return { wiped: wiped > 0, slots }
  }

  /** Returns the last step, + 1, that has wiped an account; 0: none. */
  #wipedBefore(owner: number, steps: number): number {
    const version = this.#rows.versionBefore(owner, steps)
    return this.#rows.word(version, wipedAt)
  }

  /** Returns the row of a key; 0: the state below has its value. */
  #rowFor(reads: BelowReads, addressKey: Uint8Array, slotKey?: Uint8Array): number {
    return reads === 'kept' ? this.#rows.rowOf(addressKey, slotKey) : this.#rows.find(addressKey, slotKey)
  }

  #account(row: number, addressKey: Uint8Array, steps: number, below: StateView): Account | undefined {
    if (row === 0) return below.account(addressKey)
    const version = this.#rows.versionBefore(row, steps)
    const flags = this.#rows.word(version, flagsAt)
    if (version === 0 || flags === asBelowFlag) return this.#accountBelow(row, addressKey, below, version)
    return (flags & goneFlag) !== 0 ? undefined : this.#accountAt(version, () => this.#hasSlots(version, row, addressKey, below))
  }

  #hasSlots(version: number, row: number, addressKey: Uint8Array, below: StateView): boolean {
    const [wiped, stored] = [this.#rows.word(version, wipedAt), this.#rows.word(version, storedAt)]
    if (stored > 0 && stored >= wiped) return true
    return wiped === 0 && (this.#rows.word(this.#versionBelow(row, addressKey, below), flagsAt) & storageFlag) !== 0
  }

  /** @param over version with changes to the account's slots only; 0: none */
  #accountBelow(row: number, addressKey: Uint8Array, below: StateView, over: number): Account | undefined {
    const version = this.#versionBelow(row, addressKey, below)
    const flags = this.#rows.word(version, flagsAt)
    if ((flags & goneFlag) !== 0) return undefined
    return this.#accountAt(version, () => over !== 0 || (flags & storageFlag) !== 0)
  }

  /** Returns an account. Its storage root only shows whether it has storage, because the interpreter needs no more. */
  #accountAt(version: number, hasSlots: () => boolean): Account {
    return {
      nonce: bigintFromBytes(this.#rows.bytes(version, nonceAt, 8)),
      balance: bigintFromBytes(this.#rows.bytes(version, wordAt, 32)),
      codeHash: this.#codeHashes[this.#rows.word(version, codeAt)] as Hash,
      storageRoot: hasSlots() ? zeroHash : emptyRoot,
    }
  }

  #versionBelow(row: number, addressKey: Uint8Array, below: StateView): number {
    const known = this.#knownBelow(row)
    if (known !== 0) return known
    const account = below.account(addressKey)
    const version = this.#rows.addLoose()
    this.#below[row] = version
    if (account) this.#writeAccount(version, account)
    this.#rows.setWord(version, flagsAt, account ? (account.storageRoot === emptyRoot ? 0 : storageFlag) : goneFlag)
    return version
  }

  #knownBelow(row: number): number {
    if (row >= this.#below.length) {
      const below = new Uint32Array(grown(row + 1))
      below.set(this.#below)
      this.#below = below
    }
    return this.#below[row] as number
  }

  #slot(row: number, addressKey: Uint8Array, slotKey: Uint8Array, steps: number, below: StateView): Uint8Array | undefined {
    const written = this.#rows.versionBefore(row, steps)
    const wiped = this.#wipedBefore(this.#rows.find(addressKey), steps)
    if (written !== 0 && this.#rows.stepOf(written) + 1 >= wiped) return this.#slotAt(written)
    return wiped === 0 ? this.#slotBelow(row, addressKey, slotKey, below) : undefined
  }

  #slotBelow(row: number, addressKey: Uint8Array, slotKey: Uint8Array, below: StateView): Uint8Array | undefined {
    if (row === 0) return below.slot(addressKey, slotKey)
    const known = this.#knownBelow(row)
    if (known !== 0) return this.#slotAt(known)
    const value = below.slot(addressKey, slotKey)
    const version = this.#rows.addLoose()
    this.#below[row] = version
    if (value === undefined) this.#rows.setWord(version, flagsAt, goneFlag)
    else this.#rows.bytes(version, wordAt, 32).set(value, 32 - value.length)
    return value
  }

  #slotAt(version: number): Uint8Array | undefined {
    return this.#rows.word(version, flagsAt) === goneFlag ? undefined : this.#rows.bytes(version, wordAt, 32).slice()
  }
}

import { readHead, readHeader } from '#blockchain/chainStore'
import type { Clock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { decodeAccount } from '#state/account'
import type { FetchedState, PlacedNode } from '#state/fetchedState'
import { type FillProgress, firstPosition } from '#state/fillProgress'
import { checkState } from '#state/stateCheck'
import type { RangeRequest, RangeSource, StateRange, StateRequest } from '#state/stateSource'
import type { SnapshotSource } from '#store/ports'
import type { Difference } from '#store/rowCheck'
import { tables } from '#store/tables'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { nodeFault } from '../faults.ts'

export type FillWalkDeps = {
  readonly clock: Clock
  readonly source: RangeSource
  /** tables of the chain */
  readonly store: SnapshotSource
  /** Returns the block of which ranges are requested: the last stored one of the chain. */
  readonly at: () => StateRequest['at']
  /** Stores parts. */
  readonly enter: (parts: FetchedState) => Promise<void>
  /** Waits until a number of bytes may be read after the earlier ones. */
  readonly pace: (bytes: number, signal: AbortSignal) => Promise<void>
}

/** Most ranges, or codes, of one request. */
const maxBatch = 16
/** Nodes of one transaction: some milliseconds, in which no block is committed. */
const maxEntered = 1_000
/** A slice of the check, in the thread that also answers and derives, and the pause after it. */
const checkMs = { slice: 5, pause: 15 }
/** Time between two stored positions of the check. */
const saveMs = 10_000

type Storage = RangeRequest & { readonly owner: Uint8Array }

class NotWhole extends Error {
  readonly difference: Difference

  constructor(difference: Difference) {
    super(difference.expected)
    this.difference = difference
  }
}

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))

/**
 * Fill of a partial state: a walk over all keys with range proofs, then a check of all rows against the state root, which makes the state whole. A step reads
 * and stores a page of accounts with their storage and codes. Its progress is stored with its last rows, so that a step that failed, or a process that
 * was killed, begins it again. Blocks that are committed meanwhile do no harm: parts that they touched are known, and all others have not changed.
 */
export class FillWalk {
  readonly #deps: FillWalkDeps
  #progress: FillProgress
  #savedMs: number
  /** difference that the last check has found */
  #lastDifference: Difference | undefined
  /** ranges of one request: fewer after a failure, because a source may be too slow for many */
  #batch = maxBatch

  constructor(deps: FillWalkDeps, progress: FillProgress) {
    this.#deps = deps
    this.#progress = progress
    this.#savedMs = deps.clock.elapsedMs()
  }

  get progress(): FillProgress {
    return this.#progress
  }

  /**
   * Does one step.
   * @returns whether the state is whole now
   * @throws Fault STATE_UNAVAILABLE, DISK_LOW, DISK_FULL (retry), STATE_NOT_FILLED (retry): the next step walks again; STATE_ROW_WRONG (fatal): a second walk does
   * not help; the signal's reason
   */
  async step(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    if (this.#progress.phase === 'check') return await this.#check(signal)
    try {
      await this.#walk(signal)
      this.#batch = Math.min(maxBatch, 2 * this.#batch)
      return false
    } catch (error) {
      this.#batch = Math.max(1, this.#batch >> 1)
      throw error
    }
  }

  async #walk(signal: AbortSignal): Promise<void> {
    const { source, at: atNow } = this.#deps
    const { position, accounts, slots } = this.#progress
    const at = atNow()
    const [page] = await source.ranges(at, [{ owner: undefined, first: position.account }])
    if (page === undefined) throw new RangeError('no range')
    await this.#took(page, signal)
    await this.#enterNodes(page.nodes)
    const found = page.leaves.map(({ key, value }) => ({ key, account: decodeAccount(value) }))
    const storages = found
      .filter(({ account }) => account.storageRoot !== emptyRoot)
      .map(({ key, account }): Storage => ({ owner: key, first: firstPosition.account, root: account.storageRoot }))
    const { large, counted } = await this.#readStorages(at, storages, signal)
    await this.#readCodes(
      at,
      found.map(({ account }) => account.codeHash),
      signal,
    )
    const before = { ...this.#progress, slots: slots + counted }
    this.#progress = before
    for (const { owner, next } of large) await this.#readLarge(owner, next, signal)
    const next = page.next ? { position: { account: page.next, slot: undefined } } : ({ phase: 'check', position: firstPosition } as const)
    await this.#enterProgress({ ...this.#progress, accounts: accounts + page.leaves.length, ...next })
  }

  /** Reads the first range of each storage, and stores it. @returns those that continue, and the number of slots */
  async #readStorages(
    at: StateRequest['at'],
    storages: readonly Storage[],
    signal: AbortSignal,
  ): Promise<{ readonly large: { readonly owner: Uint8Array; readonly next: Uint8Array }[]; readonly counted: number }> {
    const { source } = this.#deps
    const { position } = this.#progress
    const large: { readonly owner: Uint8Array; readonly next: Uint8Array }[] = []
    let counted = 0
    for (const group of chunks(storages, this.#batch)) {
      const ranges = await source.ranges(at, group)
      for (const [i, range] of ranges.entries()) {
        const owner = group[i]?.owner as Uint8Array
        counted += range.leaves.length
        await this.#took(range, signal)
        await this.#enterNodes(range.nodes)
        // a storage of which an earlier step has stored more
        const isOpen = position.slot && Buffer.compare(owner, position.account) === 0
        if (range.next) large.push({ owner, next: isOpen && position.slot ? position.slot : range.next })
      }
    }
    return { large, counted }
  }

  /** Reads the rest of a storage. Each part of it is a progress of its own. */
  async #readLarge(owner: Uint8Array, from: Uint8Array, signal: AbortSignal): Promise<void> {
    const { source, at } = this.#deps
    for (let first: Uint8Array | undefined = from; first; ) {
      const [range] = await source.ranges(at(), [{ owner, first }])
      if (range === undefined) throw new RangeError('no range')
      await this.#took(range, signal)
      await this.#enterNodes(range.nodes)
      first = range.next
      const slots = this.#progress.slots + range.leaves.length
      if (first) await this.#enterProgress({ ...this.#progress, slots, position: { account: owner, slot: first } })
      else this.#progress = { ...this.#progress, slots }
    }
  }

  async #readCodes(at: StateRequest['at'], hashes: readonly Hash[], signal: AbortSignal): Promise<void> {
    const { source, enter } = this.#deps
    for (const group of chunks(this.#unknownCodes(hashes), this.#batch)) {
      const codes = await source.codes(at, group)
      await this.#took({ bytes: 2 * codes.reduce((sum, { length }) => sum + length, 0) }, signal)
      await enter({ nodes: [], codes })
    }
  }

  #unknownCodes(hashes: readonly Hash[]): readonly Hash[] {
    using reader = this.#deps.store.snapshot()
    const isStored = (hash: Hash): boolean => reader.look(tables.code.id, fromHex(hash), () => true) !== undefined
    return [...new Set(hashes)].filter((hash) => hash !== emptyCodeHash && !isStored(hash))
  }

  async #took({ bytes }: Pick<StateRange, 'bytes'>, signal: AbortSignal): Promise<void> {
    this.#progress = { ...this.#progress, bytes: this.#progress.bytes + bytes }
    await this.#deps.pace(bytes, signal)
  }

  async #enterNodes(nodes: readonly PlacedNode[]): Promise<void> {
    for (const some of chunks(nodes, maxEntered)) await this.#deps.enter({ nodes: some, codes: [] })
  }

  async #enterProgress(progress: FillProgress): Promise<void> {
    await this.#deps.enter({ nodes: [], codes: [], fill: progress })
    this.#progress = progress
  }

  async #check(signal: AbortSignal): Promise<boolean> {
    const { clock, enter } = this.#deps
    try {
      const next = this.#checkSlice()
      if (next === undefined) {
        await enter({ nodes: [], codes: [], fill: 'whole' })
        return true
      }
      this.#progress = { ...this.#progress, position: next }
    } catch (error) {
      if (!(error instanceof NotWhole)) throw error
      const { difference } = error
      const { table, key, expected, found } = difference
      // a walk adds rows and removes none: a row too many would cost a walk over the whole state each time
      if (this.#lastDifference?.key === key && this.#lastDifference.table === table)
        throw nodeFault('STATE_ROW_WRONG', { table, key, expected, found })
      this.#lastDifference = difference
      await this.#enterProgress({ ...this.#progress, phase: 'walk', position: firstPosition })
      throw nodeFault('STATE_NOT_FILLED', { table, expected, found })
    }
    if (clock.elapsedMs() - this.#savedMs >= saveMs) {
      await this.#enterProgress(this.#progress)
      this.#savedMs = clock.elapsedMs()
    }
    await clock.delay(checkMs.pause, signal)
    return false
  }

  /** Compares rows with the root of a snapshot. @returns the next position; undefined: the rest is checked. @throws NotWhole */
  #checkSlice(): FillProgress['position'] | undefined {
    const { clock, store } = this.#deps
    using reader = store.snapshot()
    const head = readHead(reader)
    const header = head && readHeader(reader, head)
    if (header === undefined) throw new RangeError('a partial state without a head')
    const untilMs = clock.elapsedMs() + checkMs.slice
    return checkState(reader, header.stateRoot, this.#progress.position, {
      hasTime: () => clock.elapsedMs() < untilMs,
      onRow: () => {},
      report: (difference) => {
        throw new NotWhole(difference)
      },
    })
  }
}

import { rangesQuestion } from '#l2/state/rangeAnswers'
import { fromHex, toHex } from '#lib/hex'
import { latestState, stateAt } from '#state/chainState'
import type { FetchedState } from '#state/fetchedState'
import type { RangeRequest, RangeSource, StateRange, StateRequest, StateSource } from '#state/stateSource'
import { createWorldReads } from '#state/worldReads'
import type { Kv } from '#store/ports'
import type { Hash } from '#types/ids'
import { readNow } from '../chain/olderSchemas.ts'
import { rootAt } from '../snapshot/anchoredChain.ts'
import { provedPart } from './provedParts.ts'

/** Source that has the states of the canonical chain only. Blocks of other branches share most of it. */
export class WholeNode implements StateSource {
  readonly #kv: Kv
  readonly requests: StateRequest[] = []

  constructor(kv: Kv) {
    this.#kv = kv
  }

  async fetch(request: StateRequest): Promise<FetchedState> {
    this.requests.push(request)
    const { at, wanted } = request
    return readNow(this.#kv, (reader) =>
      provedPart(
        stateAt(reader, at.number, () => undefined),
        rootAt(reader, at.number),
        wanted,
      ),
    )
  }
}

/** Leaves of one answer of `WholeRanges`, so that pages and storages are many. */
const fewLeaves = 7
const maxBytes = 1_000_000

/** Source of ranges of a store with all states. It proves each one, and verifies it as a client does. */
export class WholeRanges implements RangeSource {
  readonly #kv: Kv
  readonly #leaves: number
  asked = 0

  /** @param leaves of one answer */
  constructor(kv: Kv, leaves = fewLeaves) {
    this.#kv = kv
    this.#leaves = leaves
  }

  async ranges(at: StateRequest['at'], wanted: readonly RangeRequest[]): Promise<readonly StateRange[]> {
    const results = await Promise.all(rangesQuestion(at, wanted).calls.map(({ params }) => this.#answer(at, params as (string | null)[])))
    return rangesQuestion(at, wanted).read(results) ?? []
  }

  async codes(_at: StateRequest['at'], hashes: readonly Hash[]): Promise<readonly Uint8Array[]> {
    return readNow(this.#kv, (reader) => hashes.map((hash) => latestState(reader, () => undefined).view.code(hash)))
  }

  enumerates(): boolean {
    return true
  }

  async #answer({ number }: StateRequest['at'], [, first, last, owner]: readonly (string | null)[]): Promise<unknown> {
    this.asked++
    return readNow(this.#kv, (reader) => {
      const state = stateAt(reader, number, () => undefined)
      const reads = createWorldReads(state, rootAt(reader, number))
      const found = reads.leaves(
        (owner ?? undefined) as Hash | undefined,
        { first: fromHex(first ?? ''), last: fromHex(last ?? '') },
        { leaves: this.#leaves, bytes: maxBytes },
      )
      return {
        ...found,
        leaves: found.leaves.map(({ key, value }) => ({ key: toHex(key), value: toHex(value) })),
        proof: found.proof.map(toHex),
      }
    })
  }
}

import { stateAt } from '#state/chainState'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest, StateSource } from '#state/stateSource'
import type { Kv } from '#store/ports'
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

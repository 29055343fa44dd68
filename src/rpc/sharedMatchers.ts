import { createHash } from 'node:crypto'
import { LogMatcher, type WantedLogs } from '#types/logMatcher'
import { tooManyLogTerms } from './errors.ts'
import type { ByteBudget, Hold } from './server/body.ts'

/** Memory of one address or topic in a matcher, in bytes: its text, its place in a set, its bits of a bloom. */
const termBytes = 128
/** Matchers of so few addresses and topics are paid for by what keeps each filter and subscription within bounds anyway. */
const fewTerms = 8

/** What a filter or subscription for logs looks for; whoever took it disposes of it at its end. */
export type MatcherUse = Disposable & {
  readonly matcher: LogMatcher
  readonly wanted: WantedLogs
  /** memory of the matcher, in bytes */
  readonly bytes: number
}

type Shared = { readonly matcher: LogMatcher; readonly wanted: WantedLogs; readonly bytes: number; readonly hold: Hold; users: number }

function keyOf({ addresses, topics }: WantedLogs): string {
  return createHash('sha256')
    .update(JSON.stringify([addresses, topics]))
    .digest('base64')
}

/** The matchers of a thread: equal ones are made once, and all of them together are bounded in bytes. */
export class SharedMatchers {
  readonly #budget: ByteBudget
  readonly #shared = new Map<string, Shared>()

  /** @param budget of the filters and subscriptions of a thread */
  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** @throws RpcError −32005 when the matchers of all clients hold too much */
  use(wanted: WantedLogs): MatcherUse {
    const key = keyOf(wanted)
    const shared = this.#shared.get(key) ?? this.#make(wanted)
    this.#shared.set(key, shared)
    shared.users++
    const { matcher, bytes } = shared
    let isUsed = true
    return {
      ...{ matcher, wanted: shared.wanted, bytes },
      [Symbol.dispose]: (): void => {
        if (!isUsed) return
        isUsed = false
        if (--shared.users > 0) return
        this.#shared.delete(key)
        shared.hold[Symbol.dispose]()
      },
    }
  }

  #make(wanted: WantedLogs): Shared {
    const terms = wanted.addresses.length + wanted.topics.reduce((sum, alternatives) => sum + alternatives.length, 0)
    const bytes = terms * termBytes
    const hold = this.#budget.hold()
    if (terms > fewTerms && !hold.take(bytes)) throw tooManyLogTerms(this.#budget.maxBytes)
    return { matcher: new LogMatcher(wanted), wanted, bytes, hold, users: 0 }
  }
}

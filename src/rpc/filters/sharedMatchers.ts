import { createHash } from 'node:crypto'
import { LogMatcher, type WantedLogs } from '#types/logMatcher'
import { tooManyLogTerms } from '../errors.ts'
import type { ByteBudget } from '../server/body.ts'
import type { ParentTrail } from './chainTrail.ts'
import { MatchedLogs, MatchedShare } from './matchedLogs.ts'

/** Memory of one address, topic or hash, in bytes: its text, its set entry, its bloom bits. */
const termBytes = 128
/** At most this many addresses, topics or hashes do not count: the number of filters and subscriptions bounds them. */
const fewTerms = 8

/** Memory of the addresses, topics or hashes of a filter or subscription; the owner disposes of it. */
export type TermsUse = Disposable & { readonly bytes: number }

/** @throws RpcError −32005 when those of all clients exceed the budget */
export function useTerms(budget: ByteBudget, terms: number): TermsUse {
  const bytes = terms * termBytes
  const hold = budget.hold()
  if (terms > fewTerms && !hold.take(bytes)) throw tooManyLogTerms(budget.maxBytes)
  return { bytes, [Symbol.dispose]: () => hold[Symbol.dispose]() }
}

/** Use of a shared log matcher; the owner disposes of it. */
export type MatcherUse = TermsUse & {
  readonly matcher: LogMatcher
  /** logs that the matcher found in recent blocks */
  readonly matched: MatchedLogs
  readonly wanted: WantedLogs
}

type Shared = Pick<MatcherUse, 'matcher' | 'matched' | 'wanted'> & { readonly terms: TermsUse; users: number }

function keyOf({ addresses, topics }: WantedLogs): string {
  return createHash('sha256')
    .update(JSON.stringify([addresses, topics]))
    .digest('base64')
}

/** The log matchers of a thread. Equal ones are shared, and their memory is bounded in total. */
export class SharedMatchers {
  readonly #budget: ByteBudget
  readonly #matched: MatchedShare
  readonly #shared = new Map<string, Shared>()

  /** @param budget shared by the filters and subscriptions of a thread */
  constructor(budget: ByteBudget, parents: ParentTrail) {
    this.#budget = budget
    this.#matched = new MatchedShare(parents)
  }

  /** @throws RpcError −32005 when the matchers of all clients exceed the budget */
  use(wanted: WantedLogs): MatcherUse {
    const key = keyOf(wanted)
    const shared = this.#shared.get(key) ?? this.#make(wanted)
    this.#shared.set(key, shared)
    shared.users++
    const { matcher, matched, terms } = shared
    let isUsed = true
    return {
      ...{ matcher, matched, wanted: shared.wanted, bytes: terms.bytes },
      [Symbol.dispose]: (): void => {
        if (!isUsed) return
        isUsed = false
        if (--shared.users > 0) return
        this.#shared.delete(key)
        matched[Symbol.dispose]()
        terms[Symbol.dispose]()
      },
    }
  }

  #make(wanted: WantedLogs): Shared {
    const terms = wanted.addresses.length + wanted.topics.reduce((sum, alternatives) => sum + alternatives.length, 0)
    const use = useTerms(this.#budget, terms)
    return { matcher: new LogMatcher(wanted), matched: new MatchedLogs(this.#matched), wanted, terms: use, users: 0 }
  }
}

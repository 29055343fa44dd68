import type { Evm } from './ports.ts'
import { createCodeCache } from './reference/code.ts'
import type { LogOfTransfer } from './reference/journal.ts'
import { ReferenceSession } from './reference/session.ts'

const codeCacheBytes = 64 * 2 ** 20

export type ReferenceOptions = {
  /** When set, each transfer of wei inside a message adds a log, which is removed when its frame fails. */
  readonly logOfTransfer?: LogOfTransfer
}

/**
 * Creates the reference interpreter: synchronous, words as bigint, frames without recursion, rules from Frontier to Osaka. Optimised for readability.
 * Its sessions share only prepared code. A session rethrows exceptions of its view and is unusable afterwards.
 */
export function createReferenceEvm(options: ReferenceOptions = {}): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return {
    open(view, block, rules, interruptCheck): ReferenceSession {
      return new ReferenceSession(view, block, rules, codes, options.logOfTransfer, interruptCheck)
    },
  }
}

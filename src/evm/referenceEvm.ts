import type { Evm } from './ports.ts'
import { createCodeCache } from './reference/code.ts'
import type { LogOfTransfer } from './reference/journal.ts'
import { ReferenceSession } from './reference/session.ts'

const codeCacheBytes = 64 * 2 ** 20

export type ReferenceOptions = {
  /** present: each move of wei inside a message is a log among the others, gone when its frame fails */
  readonly logOfTransfer?: LogOfTransfer
}

/**
 * The reference interpreter: synchronous, words as bigint, frames without recursion, rules from Frontier to Osaka. Written to be read and
 * believed. Its sessions share prepared code and nothing else. A session passes on what its view throws, and is of no use after that.
 */
export function createReferenceEvm(options: ReferenceOptions = {}): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return {
    open(view, block, rules, pace): ReferenceSession {
      return new ReferenceSession(view, block, rules, codes, options.logOfTransfer, pace)
    },
  }
}

import type { Evm } from './ports.ts'
import { createCodeCache } from './reference/code.ts'
import { ReferenceSession } from './reference/session.ts'

const codeCacheBytes = 64 * 2 ** 20

/**
 * The reference interpreter: synchronous, words as bigint, frames without recursion, rules from Frontier to Osaka. Written to be read and
 * believed. Its sessions share prepared code and nothing else. A session passes on what its view throws, and is of no use after that.
 */
export function createReferenceEvm(): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return {
    open(view, block, rules): ReferenceSession {
      return new ReferenceSession(view, block, rules, codes)
    },
  }
}

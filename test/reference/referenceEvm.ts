import type { Evm } from '#evm/ports'
import { createCodeCache } from './code.ts'
import { ReferenceSession } from './session.ts'

const codeCacheBytes = 64 * 2 ** 20

/**
 * Creates the reference interpreter: synchronous, words as bigint, frames without recursion, rules from Frontier to Osaka. Optimised for readability.
 * Its sessions share only prepared code. A session rethrows exceptions of its view and is unusable afterwards.
 */
export function createReferenceEvm(): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return {
    open(view, block, rules, interruptCheck): ReferenceSession {
      return new ReferenceSession(view, block, rules, codes, interruptCheck)
    },
  }
}

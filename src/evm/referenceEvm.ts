import { evmFault } from './faults.ts'
import type { Evm } from './ports.ts'
import { createCodeCache } from './reference/code.ts'
import { ReferenceSession } from './reference/session.ts'

const codeCacheBytes = 64 * 2 ** 20

/**
 * The reference interpreter: synchronous, words as bigint, frames without recursion, rules from Paris to Prague. Written to be read and
 * believed. Its sessions share prepared code and nothing else.
 * `open` throws Fault RULES_UNSUPPORTED for later rules; a session passes on what its view throws, and is of no use after that.
 */
export function createReferenceEvm(): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return {
    open(view, block, rules): ReferenceSession {
      if (rules.fork === 'osaka') throw evmFault('RULES_UNSUPPORTED', { fork: rules.fork })
      return new ReferenceSession(view, block, rules, codes)
    },
  }
}

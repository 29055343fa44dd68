import type { Evm } from './ports.ts'
import { createCodeCache } from './reference/code.ts'
import { ReferenceSession } from './reference/session.ts'

const codeCacheBytes = 64 * 2 ** 20

/**
 * The reference interpreter: synchronous, words as bigint, frames without recursion, rules from Paris to Prague. Written to be read and
 * believed; its sessions share prepared code.
 */
export function createReferenceEvm(): Evm {
  const codes = createCodeCache(codeCacheBytes)
  return { open: (view, block, rules) => new ReferenceSession(view, block, rules, codes) }
}

import type { Evm, EvmSession } from './ports.ts'
import { createReferenceEvm } from './referenceEvm.ts'

/** Every rule set of Ethereum: those from before Paris by the reference interpreter, which alone has them, the others by the one given. */
export function createEthereumEvm(evm: Evm): Evm {
  const reference = createReferenceEvm()
  return { open: (view, block, rules, pace): EvmSession => (rules.old === undefined ? evm : reference).open(view, block, rules, pace) }
}

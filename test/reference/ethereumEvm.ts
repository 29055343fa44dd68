import type { Evm, EvmSession } from '#evm/ports'
import { oldForkOf } from './oldForks.ts'
import { createReferenceEvm } from './referenceEvm.ts'

/** Creates an interpreter for every rule set of Ethereum: the reference interpreter runs rules before Paris, the given one all others. */
export function createEthereumEvm(evm: Evm): Evm {
  const reference = createReferenceEvm()
  return {
    open: (view, block, rules, interruptCheck): EvmSession =>
      (oldForkOf(rules) === undefined ? evm : reference).open(view, block, rules, interruptCheck),
  }
}

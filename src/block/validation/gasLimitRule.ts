import { l1AttributesIn } from '#chainspec/l2Ref'
import { isFault } from '#lib/fault'
import type { Header } from '#types/header'
import type { BlockInput } from '../execution/executedBlock.ts'

/**
 * The largest gas limit that a SystemConfig contract lets its owner set, in gas.
 * @see ethereum-optimism/optimism, SystemConfig.sol, MAX_GAS_LIMIT: 200 M at first, 500 M later
 */
const maxSystemGasLimit = 500_000_000n

/**
 * Why a block that L1 does not confirm yet cannot have its gas limit, or undefined. The limit is the parent's: L1 can change it only with a new L1
 * origin, to what its contract allows. Stricter than the rules of the chain, where a contract may allow more: a block that is refused here
 * is seen when it is sealed.
 * @see specs protocol/system-config.md, "gasLimit"; protocol/derivation.md, "Building Individual Payload Attributes"
 */
export function gasLimitRefusal(
  parent: Header,
  { gasLimit, transactions }: Pick<BlockInput, 'gasLimit' | 'transactions'>,
): string | undefined {
  if (gasLimit === parent.gasLimit) return undefined
  // the system config of a genesis block is not in its header
  const mayChange = parent.number === 0 || isFirstOfEpoch(transactions)
  if (!mayChange) return `gas limit ${gasLimit}, the parent's ${parent.gasLimit} expected within an epoch`
  return gasLimit > maxSystemGasLimit ? `gas limit ${gasLimit}, at most ${maxSystemGasLimit} expected` : undefined
}

function isFirstOfEpoch(transactions: readonly Uint8Array[]): boolean {
  try {
    return l1AttributesIn({ transactions }).sequenceNumber === 0
  } catch (error) {
    if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return false
    throw error
  }
}

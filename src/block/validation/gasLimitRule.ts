import { l1AttributesIn } from '#chainspec/l2Ref'
import { isFault } from '#lib/fault'
import type { Header } from '#types/header'
import type { BlockInput } from '../execution/executedBlock.ts'

/**
 * Maximum gas limit that the SystemConfig contract accepts from its owner, in gas: 200 M in early versions, 500 M in later ones. Chains with a contract of
 * their own may accept more: Base Sepolia had 1.2 G before Denim.
 * @see ethereum-optimism/optimism, SystemConfig.sol, MAX_GAS_LIMIT
 */
const maxSystemGasLimit = 500_000_000n

/** Maximum gas limit of the block after a parent: what the contract accepts, or the parent's when the chain's own contract has accepted more. */
export const maxGasLimitAfter = (parent: Header): bigint => (parent.gasLimit > maxSystemGasLimit ? parent.gasLimit : maxSystemGasLimit)

/**
 * Returns why the gas limit of a block that L1 does not confirm yet is refused, or undefined. The limit must equal the parent's, unless the block
 * is the first of an epoch: then L1 can set any limit that its contract accepts. The rule is stricter than the chain's own, because a contract may
 * accept more. A valid block that this rule refuses becomes visible when it is sealed.
 * @see specs protocol/system-config.md, "gasLimit"; protocol/derivation.md, "Building Individual Payload Attributes"
 */
export function gasLimitRefusal(
  parent: Header,
  { gasLimit, transactions }: Pick<BlockInput, 'gasLimit' | 'transactions'>,
): string | undefined {
  if (gasLimit === parent.gasLimit) return undefined
  // the header of a genesis block does not hold its system config
  const mayChange = parent.number === 0 || isFirstOfEpoch(transactions)
  if (!mayChange) return `gas limit ${gasLimit}, the parent's ${parent.gasLimit} expected within an epoch`
  const most = maxGasLimitAfter(parent)
  return gasLimit > most ? `gas limit ${gasLimit}, at most ${most} expected` : undefined
}

function isFirstOfEpoch(transactions: readonly Uint8Array[]): boolean {
  try {
    return l1AttributesIn({ transactions }).sequenceNumber === 0
  } catch (error) {
    if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return false
    throw error
  }
}

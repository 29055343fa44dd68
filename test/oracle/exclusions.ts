// Where the oracle is known to differ from the specification. Nothing else may differ, and each of these is seen among the targeted cases.
import { l1BlockAddress } from '#chainspec/addresses'
import { isActive } from '#chainspec/forks'
import { fromHex, type Hex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { scheduleTo } from '#test/harness/chain/blocks'
import { addressKeyOf } from '#test/harness/evm/case'
import { maxNonce } from '#types/account'
import { decodeTransaction, depositType } from '#types/transaction'
import { type BlockDifference, differenceOfAnswers, differenceOfEnds } from './difference.ts'
import { type OurAnswer, runOurs } from './ours.ts'
import type { WireAnswer, WireCase } from './wire.ts'

type Exclusion = {
  readonly name: string
  /** Whether this is the reason for which the answers differ, and the only one. */
  explains(given: WireCase, ours: OurAnswer, oracle: WireAnswer): boolean
}

const slotOf = (given: WireCase, slot: string): bigint => BigInt(given.accounts[l1BlockAddress]?.storage[slot] ?? '0x0')

function hasNoEcotonePrices(given: WireCase): boolean {
  const scalars = (slotOf(given, '0x3') >> 64n) & (2n ** 64n - 1n)
  return isActive(scheduleTo(given.fork), 'ecotone', 0) && scalars === 0n && slotOf(given, '0x7') === 0n
}

function withoutL1BaseFee(given: WireCase): WireCase {
  const l1Block = given.accounts[l1BlockAddress]
  if (!l1Block) return given
  const { '0x1': _, ...storage } = l1Block.storage
  return { ...given, accounts: { ...given.accounts, [l1BlockAddress]: { ...l1Block, storage } } }
}

const withoutL1Block = (answer: OurAnswer): OurAnswer => ({
  ...answer,
  state: answer.state.filter((line) => !line.startsWith(addressKeyOf(l1BlockAddress))),
})

/**
 * The first Ecotone block has Bedrock's prices in L1Block, and Bedrock's formula holds (specs protocol/ecotone/l1-attributes.md). op-revm takes
 * the scalar from Ecotone's slot, which is zero then, and charges no L1 fee. That block has no signed transactions on any chain that derives it.
 */
const noFeeBeforeEcotonesPrices: Exclusion = {
  name: 'no L1 fee while scalars and blob base fee of Ecotone are zero',
  explains(given, _ours, oracle) {
    if (!hasNoEcotonePrices(given)) return false
    const { [l1BlockAddress]: _, ...accounts } = oracle.accounts
    return differenceOfAnswers(withoutL1Block(runOurs(withoutL1BaseFee(given))), { ...oracle, accounts }) === undefined
  },
}

/** Whether the bytes are a signed transaction with the largest nonce. */
function hasLargestNonce(raw: Hex): boolean {
  try {
    const tx = decodeTransaction(fromHex(raw))
    return tx.type !== depositType && tx.nonce === maxNonce
  } catch (error) {
    if (error instanceof RlpError) return false
    throw error
  }
}

/**
 * revm 34 does not refuse a signed transaction or a call of a sender that has the largest nonce (EIP-2681). No account can get there: a genesis
 * file would have to give it this nonce.
 */
const noCheckOfLargestNonce: Exclusion = {
  name: 'EIP-2681 is not checked',
  explains({ transactions, accounts, calls = [] }, ours, oracle) {
    const callAt = (oracle.calls ?? []).findIndex((end, at) => isRefusedByOursAlone(ours.calls?.[at], end))
    if (callAt >= 0) return BigInt(accounts[calls[callAt]?.from ?? '']?.nonce ?? '0x0') === maxNonce
    const at = oracle.transactions.findIndex((end, at) => isRefusedByOursAlone(ours.transactions[at], end))
    if (at < 0 || !hasLargestNonce(transactions[at] ?? '0x')) return false
    return differenceOfEnds('transaction', ours.transactions.slice(0, at), oracle.transactions.slice(0, at)) === undefined
  },
}

const isRefusedByOursAlone = (ours: object | undefined, oracle: object): boolean =>
  ours !== undefined && 'refused' in ours && !('refused' in oracle)

const exclusions: readonly Exclusion[] = [noFeeBeforeEcotonesPrices, noCheckOfLargestNonce]
export const exclusionNames: readonly string[] = exclusions.map(({ name }) => name)

/** What differs between an answer of ours and the oracle's and is not known; `excluded` names what explains a difference. */
export function difference(
  given: WireCase,
  ours: OurAnswer,
  oracle: WireAnswer,
): { readonly found: BlockDifference | undefined; readonly excluded?: string } {
  const found = differenceOfAnswers(ours, oracle)
  const exclusion = found && exclusions.find(({ explains }) => explains(given, ours, oracle))
  return exclusion ? { found: undefined, excluded: exclusion.name } : { found }
}

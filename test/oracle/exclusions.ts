// Known differences of the oracle from the specification. All others fail the run, and each of these must occur in a targeted case.
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
  /** True when this is the only reason for the difference. */
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
 * In the first Ecotone block L1Block has Bedrock's prices, and Bedrock's formula applies (specs protocol/ecotone/l1-attributes.md). op-revm reads
 * the scalar from Ecotone's slot, which is still zero, and charges no L1 fee. On derived chains that block has no signed transactions.
 */
const noFeeBeforeEcotonesPrices: Exclusion = {
  name: 'no L1 fee while scalars and blob base fee of Ecotone are zero',
  explains(given, _ours, oracle) {
    if (!hasNoEcotonePrices(given)) return false
    const { [l1BlockAddress]: _, ...accounts } = oracle.accounts
    return differenceOfAnswers(withoutL1Block(runOurs(withoutL1BaseFee(given))), { ...oracle, accounts }) === undefined
  },
}

/** True for a signed transaction with the largest nonce. */
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
 * revm 34 accepts a signed transaction or a call from a sender with the largest nonce (EIP-2681). Only a genesis file can give an account this
 * nonce.
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

/** Returns an unknown difference from the oracle's result; `excluded` names the known reason of a difference. */
export function difference(
  given: WireCase,
  ours: OurAnswer,
  oracle: WireAnswer,
): { readonly found: BlockDifference | undefined; readonly excluded?: string } {
  const found = differenceOfAnswers(ours, oracle)
  const exclusion = found && exclusions.find(({ explains }) => explains(given, ours, oracle))
  return exclusion ? { found: undefined, excluded: exclusion.name } : { found }
}

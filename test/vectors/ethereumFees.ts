import type { FeeRules } from '#block/execution/applyTransaction'
import type { EvmFork, EvmRules } from '#chainspec/evmRules'

/** Blob limit of one transaction: the block's, from Osaka on a separate one (EIP-7594). */
const maxBlobs: Readonly<Partial<Record<EvmFork, number>>> = { cancun: 6, prague: 9, osaka: 6 }

/** Ethereum's fee rules for transactions, for the public tests only: the base fee is burnt, blobs are paid for, no other fees. */
export function ethereumFees(fork: EvmFork): FeeRules {
  const blobs = maxBlobs[fork]
  return {
    ...(blobs !== undefined && { maxBlobs: blobs }),
    upfront: () => 0n,
    settle: (session, { beneficiary, tipPerGas, gasUsed }) => session.addBalance(beneficiary, tipPerGas * gasUsed),
  }
}

/** Rules of the post states. Those from Prague on are by go-ethereum 1.17, which permits a contract at an address with storage. */
export const ethereumRules: Readonly<Record<EvmFork, EvmRules>> = {
  paris: { fork: 'paris', precompileLimits: {} },
  shanghai: { fork: 'shanghai', precompileLimits: {} },
  cancun: { fork: 'cancun', precompileLimits: {} },
  prague: { fork: 'prague', precompileLimits: {}, creationOverStorage: 'allow' },
  osaka: { fork: 'osaka', precompileLimits: {}, p256VerifyGas: 6_900, creationOverStorage: 'allow' },
}

const updateFraction: Readonly<Partial<Record<EvmFork, bigint>>> = { prague: 5_007_716n, osaka: 5_007_716n }

/** Wei per blob gas. @see EIP-4844, "fake_exponential"; EIP-7691 */
export function blobBaseFee(fork: EvmFork, excessBlobGas: bigint): bigint {
  const denominator = updateFraction[fork] ?? 3_338_477n
  let sum = 0n
  let term = denominator
  for (let i = 1n; term > 0n; i++) {
    sum += term
    term = (term * excessBlobGas) / (denominator * i)
  }
  return sum / denominator
}

import type { Address } from '#types/ids'

/** Ethereum's execution rules; each fork includes the earlier ones. OP chains start at Paris. */
export const evmForks = ['paris', 'shanghai', 'cancun', 'prague', 'osaka'] as const
export type EvmFork = (typeof evmForks)[number]

/** Input size limits that OP forks add to precompiles, in bytes. An input above the limit fails the call and consumes all its gas. */
export type PrecompileLimits = {
  readonly bn254PairingBytes?: number
  readonly blsG1MsmBytes?: number
  readonly blsG2MsmBytes?: number
  readonly blsPairingBytes?: number
}

/** Forks of Base that change its native contracts, in order. */
export const nativeForks = ['beryl', 'cobalt', 'denim'] as const
export type NativeFork = (typeof nativeForks)[number]

/** Version of Base's native contracts. */
export type NativeContractRules = {
  readonly fork: NativeFork
  /** Admin of the activation registry while its storage has none; absent: the chain has no admin. */
  readonly activationAdmin?: Address
}

/** All rules that differ between blocks for the interpreter. Created once per fork; compared by identity. */
export type EvmRules = {
  readonly fork: EvmFork
  readonly precompileLimits: PrecompileLimits
  /** Gas of P256VERIFY at 0x100; absent: the precompile does not exist. */
  readonly p256VerifyGas?: number
  /** Native contracts (B20 tokens and their registries); absent: they do not exist. */
  readonly nativeContracts?: NativeContractRules
  /**
   * Outcome of a creation at an address with storage but without nonce and code. No OP chain has such an address. Absent: the creation fails
   * (EIP-7610). 'allow': it proceeds over the old slots, as in go-ethereum since 1.17, which instead rejects a list of mainnet addresses.
   */
  readonly creationOverStorage?: 'allow'
  /** Set only in calls whose overrides move precompiles: maps an address to the address of the precompile to run there, or to none. */
  readonly precompilesAt?: ReadonlyMap<Address, Address | undefined>
}

/** Returns whether blocks under these rules follow a fork of Ethereum. */
export function hasFork(rules: EvmRules, fork: EvmFork): boolean {
  return evmForks.indexOf(rules.fork) >= evmForks.indexOf(fork)
}

/** Gas; EIP-7825. */
const maxTransactionGas = 16_777_216n

/** Returns the gas limit cap of a signed transaction, from Osaka on (EIP-7825); undefined: no cap except the block's. Deposits have no cap. */
export function transactionGasCap(rules: EvmRules): bigint | undefined {
  return hasFork(rules, 'osaka') ? maxTransactionGas : undefined
}

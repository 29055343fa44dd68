import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, TransactionEnv } from '#evm/ports'
import type { StateTestAccount } from '#test/vectors/stateTestCases'
import { type Address, parseAddress, zeroHash } from '#types/ids'

export const paris: EvmRules = { fork: 'paris', precompileLimits: {} }
export const shanghai: EvmRules = { fork: 'shanghai', precompileLimits: {} }
export const cancun: EvmRules = { fork: 'cancun', precompileLimits: {} }
export const prague: EvmRules = { fork: 'prague', precompileLimits: {} }

export const osaka: EvmRules = { fork: 'osaka', precompileLimits: {}, p256VerifyGas: 6_900 }

export const testBlock: BlockEnv = {
  chainId: 1n,
  number: 1_000,
  timestamp: 1_700_000_000,
  beneficiary: parseAddress(`0x${'bb'.repeat(20)}`),
  prevRandao: zeroHash,
  gasLimit: 30_000_000n,
  baseFee: 10n,
  blobBaseFee: 1n,
}

/** Address 0x1111… for the byte 0x11. */
export const addressOf = (byte: number): Address => parseAddress(`0x${byte.toString(16).padStart(2, '0').repeat(20)}`)

/** Account in a test's state; omitted fields are zero or empty. */
export const testAccount = (parts: Partial<StateTestAccount>): StateTestAccount => ({
  nonce: '0x0',
  balance: '0x0',
  code: '0x',
  storage: {},
  ...parts,
})

export const testTransaction = (origin: Address): TransactionEnv => ({ origin, gasPrice: 10n, blobHashes: [], warm: [] })

/** Shortest PUSH of a number. */
export function push(value: number | bigint | string): string {
  const digits = typeof value === 'string' ? value.replace('0x', '') : value.toString(16)
  const hex = digits.length % 2 === 0 ? digits : `0${digits}`
  return (0x5f + hex.length / 2).toString(16) + hex
}

/** CALL without input and output, with all gas; leaves the success flag on the stack. */
export const callTo = (to: Address, value = 0): string => `${push(0).repeat(4)}${push(value)}${push(to)}5af1`
/** Stores the top of the stack in a slot. */
export const storeIn = (slot: number): string => `${push(slot)}55`

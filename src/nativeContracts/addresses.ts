import type { NativeFork } from '#chainspec/evmRules'
import { padLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Address, parseAddress } from '#types/ids'
import { type Word, wordOfBytes } from './kit/word.ts'

export const factoryAddress: Address = parseAddress('0xb20f000000000000000000000000000000000000')
export const activationRegistryAddress: Address = parseAddress('0x8453000000000000000000000000000000000001')
export const policyRegistryAddress: Address = parseAddress('0x8453000000000000000000000000000000000002')
const nonceManagerAddress: Address = parseAddress('0x813000000000000000000000000000000000aa01')
const transactionContextAddress: Address = parseAddress('0x813000000000000000000000000000000000aa02')

const wordOfAddress = (address: Address): Word => wordOfBytes(padLeft(fromHex(address), 32))

export const activationRegistryWord: Word = wordOfAddress(activationRegistryAddress)
export const policyRegistryWord: Word = wordOfAddress(policyRegistryAddress)

/** Native contracts. The numbers are those that the interpreter in WebAssembly reports. */
export const nativeContracts = [
  'none',
  'factory',
  'activationRegistry',
  'policyRegistry',
  'nonceManager',
  'transactionContext',
  'asset',
  'stablecoin',
] as const
export type NativeContract = Exclude<(typeof nativeContracts)[number], 'none'>

const fixed: ReadonlyMap<string, { readonly contract: NativeContract; readonly isFromCobalt: boolean }> = new Map([
  [factoryAddress, { contract: 'factory', isFromCobalt: false }],
  [activationRegistryAddress, { contract: 'activationRegistry', isFromCobalt: false }],
  [policyRegistryAddress, { contract: 'policyRegistry', isFromCobalt: false }],
  [nonceManagerAddress, { contract: 'nonceManager', isFromCobalt: true }],
  [transactionContextAddress, { contract: 'transactionContext', isFromCobalt: true }],
])

/** A token's address begins with this, and then has a byte for its variant. */
const tokenPrefix = '0xb2000000000000000000'

/** Returns the native contract at an address under a fork. A token's address is native whether or not the token exists. */
export function nativeContractAt(fork: NativeFork, address: Address): NativeContract | undefined {
  const found = fixed.get(address)
  if (found) return found.isFromCobalt && fork === 'beryl' ? undefined : found.contract
  if (!address.startsWith(tokenPrefix)) return undefined
  const variant = address.slice(tokenPrefix.length, tokenPrefix.length + 2)
  if (variant === '00') return 'asset'
  return variant === '01' ? 'stablecoin' : undefined
}

const names: Readonly<Record<NativeContract, string>> = {
  factory: 'B20Factory',
  activationRegistry: 'ActivationRegistry',
  policyRegistry: 'PolicyRegistry',
  nonceManager: 'NonceManager',
  transactionContext: 'TransactionContext',
  asset: 'B20Asset',
  stablecoin: 'B20Stablecoin',
}

/** Returns the name of the native contract at an address, for traces. */
export function nativeNameAt(fork: NativeFork, address: Address): string | undefined {
  const contract = nativeContractAt(fork, address)
  return contract && names[contract]
}

/**
 * Returns the native contracts that every transaction starts warm, like precompiles (EIP-2929). Tokens start cold: base/base finds them by their
 * prefix, outside its list of precompiles. No traced call on a public chain confirms it.
 */
export function warmNativeContracts(fork: NativeFork): readonly Address[] {
  return [...fixed].filter(([, { isFromCobalt }]) => !isFromCobalt || fork !== 'beryl').map(([address]) => address as Address)
}

/** Returns whether a word is an address of the tokens' form, of any variant. */
export function isTokenAddress(address: Word): boolean {
  // bytes b2 00 00 00 | 00 00 00 00 | 00 00 and the variant
  return address[4] === 0xb2000000 && address[3] === 0 && (address[2] as number) >>> 16 === 0
}

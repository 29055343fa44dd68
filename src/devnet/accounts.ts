import { pbkdf2Sync } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { toHex } from '#lib/hex'
import { addressOfKey } from '#lib/secp256k1'
import { addressFromBytes } from '#types/ids'
import { maxAccounts } from './choices.ts'
import { devnetFault } from './faults.ts'
import type { DevnetAccount } from './ports.ts'

/** Mnemonic of most development chains. Its keys are public. */
export const testMnemonic = 'test test test test test test test test test test test junk'

/** Accounts of the devnet itself. Batcher and owner are under another branch of the mnemonic (`m/44'/60'/1'/0/…`) than the listed accounts. */
export type DevnetRoles = {
  /** posts to L1 */
  readonly batcher: DevnetAccount
  /** may change the system config */
  readonly owner: DevnetAccount
  /** admin of the activation registry: the sixth listed account, as on Base's own development chain */
  readonly activationAdmin: DevnetAccount
}

/** Returns whether these are words of BIP-39's English list with a valid checksum. */
const isMnemonic = (words: string): boolean => validateMnemonic(words, wordlist)

function rootOf(words: string): HDKey {
  if (!isMnemonic(words)) throw devnetFault('BAD_MNEMONIC', {})
  // BIP-39's seed, without a passphrase; the platform's own derivation takes a hundredth of the time
  return HDKey.fromMasterSeed(pbkdf2Sync(words.normalize('NFKD'), 'mnemonic', 2_048, 64, 'sha512'))
}

function accountAt(branch: HDKey, index: number): DevnetAccount {
  const { privateKey } = branch.deriveChild(index)
  if (!privateKey) throw new RangeError('a branch of private keys has no private key')
  return { address: addressFromBytes(addressOfKey(privateKey)), privateKey: toHex(privateKey) }
}

/**
 * Returns the accounts of a mnemonic in the order of wallets: `m/44'/60'/0'/0/0`, `…/1` and so on.
 * @throws Fault BAD_MNEMONIC (fatal); RangeError unless 1 ≤ count ≤ maxAccounts
 */
export function devnetAccounts(words: string, count: number): { readonly accounts: readonly DevnetAccount[]; readonly roles: DevnetRoles } {
  if (!Number.isInteger(count) || count < 1 || count > maxAccounts) throw new RangeError(`${count} accounts are not supported`)
  const root = rootOf(words)
  const people = root.derive("m/44'/60'/0'/0")
  const own = root.derive("m/44'/60'/1'/0")
  const accounts = Array.from({ length: count }, (_, index) => accountAt(people, index))
  return { accounts, roles: { batcher: accountAt(own, 0), owner: accountAt(own, 1), activationAdmin: accountAt(people, 5) } }
}

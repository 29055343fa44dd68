import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import { bytesOf, fixedBytesOf, type Hex, otherForm, quantityOf, shown, toHex, wordHex } from './hex.ts'
import { Refusal } from './refusal.ts'
import { decodeItem, decodeList, type Item } from './rlp.ts'
import { emptyRoot, provedValue } from './walk.ts'

/** Account as the state has it. An account that does not exist has no nonce, balance, code or storage. */
export type ProvedAccount = {
  readonly address: Hex
  readonly exists: boolean
  readonly nonce: bigint
  /** wei */
  readonly balance: bigint
  readonly codeHash: Hex
  /** root of the account's storage trie */
  readonly storageHash: Hex
}

/** Storage slot; a slot that was never set, or was set to zero, has the value 0. */
export type ProvedSlot = { readonly key: Hex; readonly value: bigint }

/** Longest proof: a branch for each nibble of a key of 32 bytes, and a leaf. */
const maxNodes = 65
/** Most storage proofs of one result. Nodes answer fewer. */
export const maxSlots = 4_096

const emptyCodeHash = toHex(keccak256(new Uint8Array(0)))
const noHash = wordHex(0n)

export function objectOf(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw otherForm(value, at, 'an object')
  return value as Readonly<Record<string, unknown>>
}

export function listOf(value: unknown, at: string, maxLength: number): readonly unknown[] {
  if (!Array.isArray(value)) throw otherForm(value, at, 'a list')
  if (value.length > maxLength) throw new Refusal('MALFORMED', at, `${value.length} items, expected at most ${maxLength}`)
  return value
}

/** Returns a scalar of at most `maxBytes`. */
function scalarOf(item: Item | undefined, at: string, maxBytes: number): bigint {
  if (item === undefined || item.isList || item.content.length > maxBytes || item.content[0] === 0)
    throw new Refusal('NODES_WRONG', at, `the leaf has no integer of at most ${maxBytes} bytes where one is expected`)
  return item.content.length === 0 ? 0n : BigInt(toHex(item.content))
}

function hashOf(item: Item | undefined, at: string): Hex {
  if (item === undefined || item.isList || item.content.length !== 32)
    throw new Refusal('NODES_WRONG', at, 'the leaf has no hash where one is expected')
  return toHex(item.content)
}

/** Decodes the leaf of an account. @see Ethereum yellow paper, section 4.1 */
function decodeAccount(address: Hex, leaf: Uint8Array, at: string): ProvedAccount {
  const items = decodeList(leaf, at)
  if (items.length !== 4) throw new Refusal('NODES_WRONG', at, `the leaf has ${items.length} items, an account has 4`)
  const [nonce, balance, storageHash, codeHash] = items
  return {
    address,
    exists: true,
    nonce: scalarOf(nonce, at, 8),
    balance: scalarOf(balance, at, 32),
    storageHash: hashOf(storageHash, at),
    codeHash: hashOf(codeHash, at),
  }
}

const absentAccount = (address: Hex): ProvedAccount => ({
  address,
  exists: false,
  nonce: 0n,
  balance: 0n,
  storageHash: toHex(emptyRoot),
  codeHash: emptyCodeHash,
})

/** Throws unless a claimed value is the proved one. @param proved as text for the message */
function requireEqual(isEqual: boolean, at: string, claimed: unknown, proved: string): void {
  if (!isEqual) throw new Refusal('VALUE_DIFFERS', at, `${shown(claimed)} is claimed, the proof has ${proved}`)
}

function requireQuantity(claimed: unknown, at: string, proved: bigint): void {
  requireEqual(quantityOf(claimed, at) === proved, at, claimed, `0x${proved.toString(16)}`)
}

/** For an account that does not exist, some clients claim the hash of nothing, others zero. */
function requireHash(claimed: unknown, at: string, proved: Hex, exists: boolean): void {
  const hash = toHex(fixedBytesOf(claimed, at, 32))
  requireEqual(hash === proved || (!exists && hash === noHash), at, claimed, proved)
}

/** Verifies the account of an `eth_getProof` result. @throws Refusal */
export function provedAccount(result: Readonly<Record<string, unknown>>, stateRoot: Uint8Array): ProvedAccount {
  const bytes = fixedBytesOf(result['address'], 'address', 20)
  const address = toHex(bytes)
  const at = 'accountProof'
  const nodes = listOf(result[at], at, maxNodes)
  const leaf = provedValue({ root: stateRoot, key: keccak256(bytes), nodes, at, otherRoot: 'ROOT_DIFFERS' })
  const account = leaf === undefined ? absentAccount(address) : decodeAccount(address, leaf, `${at}[${nodes.length - 1}]`)
  requireQuantity(result['nonce'], 'nonce', account.nonce)
  requireQuantity(result['balance'], 'balance', account.balance)
  requireHash(result['codeHash'], 'codeHash', account.codeHash, account.exists)
  requireHash(result['storageHash'], 'storageHash', account.storageHash, account.exists)
  return account
}

/** Verifies one entry of a `storageProof`. @param at its path @throws Refusal */
export function provedSlot(entry: unknown, at: string, storageHash: Uint8Array, otherRoot: 'ROOT_DIFFERS' | 'NODES_WRONG'): ProvedSlot {
  const slot = objectOf(entry, at)
  const key = wordHex(quantityOf(slot['key'], `${at}.key`))
  const path = `${at}.proof`
  const nodes = listOf(slot['proof'], path, maxNodes)
  const leaf = provedValue({ root: storageHash, key: keccak256(bytesOf(key, at, 32)), nodes, at: path, otherRoot })
  const where = `${path}[${nodes.length - 1}]`
  const value = leaf === undefined ? 0n : scalarOf(decodeItem(leaf, where), where, 32)
  if (leaf !== undefined && value === 0n) throw new Refusal('NODES_WRONG', where, 'a leaf with the value 0, which no trie has')
  requireQuantity(slot['value'], `${at}.value`, value)
  return { key, value }
}

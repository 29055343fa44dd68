import { emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { decodeRlp, encodeRlp, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'

const usual = new Map([emptyRoot, emptyCodeHash].map((hash) => [hash, fromHex(hash)]))
const hashBytes = (hash: Hash): Uint8Array => usual.get(hash) ?? fromHex(hash)

/** Encodes the leaf value of an account in the account trie. @see yellow paper, 4.1 */
export function encodeAccount({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array {
  return encodeRlp([rlpScalar(nonce), rlpScalar(balance), hashBytes(storageRoot), hashBytes(codeHash)])
}

/** Decodes an account's leaf value. Throws RlpError on other bytes. */
export function decodeAccount(leaf: Uint8Array): Account {
  const [nonce, balance, storageRoot, codeHash] = rlpList(decodeRlp(leaf), 'account')
  return {
    nonce: rlpBigint(nonce, 'nonce', 8),
    balance: rlpBigint(balance, 'balance'),
    storageRoot: hashFromBytes(rlpBytes(storageRoot, 'storage root', 32)),
    codeHash: hashFromBytes(rlpBytes(codeHash, 'code hash', 32)),
  }
}

const unless = (hash: Hash, usual: Hash): Uint8Array => (hash === usual ? emptyBytes : fromHex(hash))

const hashOr = (item: RlpItem | undefined, usual: Hash, what: string): Hash => {
  const bytes = rlpBytes(item, what)
  return bytes.length === 0 ? usual : hashFromBytes(rlpBytes(item, what, 32))
}

/** Encodes the account's row on disk: as the leaf value, but an empty storage root and the empty code hash take no bytes. */
export function encodeAccountRow({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array {
  return encodeRlp([rlpScalar(nonce), rlpScalar(balance), unless(storageRoot, emptyRoot), unless(codeHash, emptyCodeHash)])
}

/** Decodes an account's row. Throws RlpError on other bytes. */
export function decodeAccountRow(row: Uint8Array): Account {
  const [nonce, balance, storageRoot, codeHash] = rlpList(decodeRlp(row), 'account row')
  return {
    nonce: rlpBigint(nonce, 'nonce', 8),
    balance: rlpBigint(balance, 'balance'),
    storageRoot: hashOr(storageRoot, emptyRoot, 'storage root'),
    codeHash: hashOr(codeHash, emptyCodeHash, 'code hash'),
  }
}

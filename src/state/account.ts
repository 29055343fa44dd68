import { emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { decodeRlp, encodeRlp, encodeRlpList, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpHead, rlpList, rlpScalar } from '#lib/rlp'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'

const knownHashBytes = new Map([emptyRoot, emptyCodeHash].map((hash) => [hash, fromHex(hash)]))
const hashBytes = (hash: Hash): Uint8Array => knownHashBytes.get(hash) ?? fromHex(hash)

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

const unless = (hash: Hash, empty: Hash): Uint8Array => (hash === empty ? emptyBytes : fromHex(hash))

const hashOr = (item: RlpItem | undefined, empty: Hash, what: string): Hash => {
  const bytes = rlpBytes(item, what)
  return bytes.length === 0 ? empty : hashFromBytes(rlpBytes(item, what, 32))
}

/** Encodes the account's row on disk: as the leaf value, but an empty storage root and the empty code hash take no bytes. */
export function encodeAccountRow({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array {
  return encodeRlp([rlpScalar(nonce), rlpScalar(balance), unless(storageRoot, emptyRoot), unless(codeHash, emptyCodeHash)])
}

/** Returns the leaf value of an account from its row. Throws RlpError on other bytes. */
export function accountOfRow(row: Uint8Array): Uint8Array {
  const list = rlpHead(row, 0)
  const items: Uint8Array[] = []
  let at = list.from
  while (at < list.to && items.length < 4) {
    const { to } = rlpHead(row, at)
    items.push(row.subarray(at, to))
    at = to
  }
  const [nonce, balance, storageRoot, codeHash] = items
  if (!list.isList || at !== row.length || !nonce || !balance || !storageRoot || !codeHash) throw new RlpError('account row: 4 items')
  return encodeRlpList([nonce, balance, hashItem(storageRoot, emptyRootItem), hashItem(codeHash, emptyCodeHashItem)])
}

const [emptyRootItem, emptyCodeHashItem] = [encodeRlp(fromHex(emptyRoot)), encodeRlp(fromHex(emptyCodeHash))]

function hashItem(item: Uint8Array, empty: Uint8Array): Uint8Array {
  if (item.length === 1 && item[0] === 0x80) return empty
  if (item.length !== empty.length) throw new RlpError('account row: a hash expected')
  return item
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

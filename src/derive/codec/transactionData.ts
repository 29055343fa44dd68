import { emptyBytes } from '#lib/bytes'
import { RlpError, rlpBigint, rlpBytes, rlpHead, rlpString, splitRlpList } from '#lib/rlp'

const checkScalar = (item: Uint8Array | undefined, what: string, maxBytes = 32): bigint => rlpBigint(rlpString(item, what), what, maxBytes)
const checkBytes = (item: Uint8Array | undefined, what: string, length: number): Uint8Array => rlpBytes(rlpString(item, what), what, length)

/** Calls `check` with the head and the offset of each item of an encoded list. A list of a large transaction may have millions of items. */
function checkList(list: Uint8Array, what: string, check: (head: ReturnType<typeof rlpHead>, at: number) => void): void {
  const { isList, from, to } = rlpHead(list, 0)
  if (!isList || to !== list.length) throw new RlpError(`${what}: list expected`)
  for (let at = from; at < to; ) {
    const head = rlpHead(list, at)
    check(head, at)
    at = head.to
  }
}

function checkAccessListEntry(entry: Uint8Array): void {
  const [address, slots = emptyBytes] = splitRlpList(entry, 2, 'access list entry')
  checkBytes(address, 'address', 20)
  checkList(slots, 'storage keys', ({ isList, from, to }) => {
    if (isList || to - from !== 32) throw new RlpError('storage key: 32 bytes expected')
  })
}

function checkAuthorization(authorization: Uint8Array): void {
  const [chainId, address, nonce, yParity, r, s] = splitRlpList(authorization, 6, 'authorization')
  checkScalar(chainId, 'authorization chain id')
  checkBytes(address, 'authorization address', 20)
  checkScalar(nonce, 'authorization nonce', 8)
  checkScalar(yParity, 'authorization y parity', 1)
  checkScalar(r, 'authorization r')
  checkScalar(s, 'authorization s')
}

/**
 * Checks the transaction data of a span as `decodeTransaction` checks them in a whole transaction, but creates no object for each of their items.
 * @param type of the transaction: 0, 1, 2 or 4
 * @param fields encoded: value, prices, data, access list, authorizations, as many as the type has
 * @param to empty when the transaction creates a contract
 * @throws RlpError
 */
export function checkTransactionData(type: number, fields: readonly Uint8Array[], to: Uint8Array): void {
  const priceCount = type < 2 ? 1 : 2
  const [data, accessList = emptyBytes, authorizations = emptyBytes] = fields.slice(1 + priceCount)
  for (const amount of fields.slice(0, 1 + priceCount)) checkScalar(amount, 'value or price')
  rlpString(data, 'data')
  if (type !== 0) checkList(accessList, 'access list', ({ to }, at) => checkAccessListEntry(accessList.subarray(at, to)))
  if (type !== 4) return
  if (to.length === 0) throw new RlpError('set-code transaction creates a contract')
  checkList(authorizations, 'authorizations', ({ to }, at) => checkAuthorization(authorizations.subarray(at, to)))
}

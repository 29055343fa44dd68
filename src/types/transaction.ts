import { bytesFromBigint, concatBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, encodeRlp, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { type Deposit, decodeDeposit, encodeDeposit } from './deposit.ts'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from './ids.ts'

export const depositType = 0x7e

export type AccessList = readonly { readonly address: Address; readonly slots: readonly Hash[] }[]

/** EIP-7702 authorization of an account to run another account's code; u64 nonce. */
export type Authorization = {
  /** 0 means any chain; u256. */
  readonly chainId: bigint
  readonly address: Address
  readonly nonce: bigint
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}

/** Fields of all signed transactions. Amounts in wei, prices in wei per gas, u64 nonce and gas; `to` null creates a contract. */
type Signed = {
  readonly nonce: bigint
  readonly gasLimit: bigint
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly yParity: 0 | 1
  readonly r: bigint
  readonly s: bigint
}

/** `chainId` is absent when the signature is valid on every chain (before EIP-155). */
export type LegacyTransaction = Signed & { readonly type: 0; readonly chainId?: bigint; readonly gasPrice: bigint }
export type AccessListTransaction = Signed & {
  readonly type: 1
  readonly chainId: bigint
  readonly gasPrice: bigint
  readonly accessList: AccessList
}
type FeeMarket = {
  readonly chainId: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly accessList: AccessList
}
export type FeeMarketTransaction = Signed & FeeMarket & { readonly type: 2 }
export type BlobTransaction = Signed &
  FeeMarket & { readonly type: 3; readonly to: Address; readonly maxFeePerBlobGas: bigint; readonly blobVersionedHashes: readonly Hash[] }
export type SetCodeTransaction = Signed &
  FeeMarket & { readonly type: 4; readonly to: Address; readonly authorizationList: readonly Authorization[] }

export type SignedTransaction = LegacyTransaction | AccessListTransaction | FeeMarketTransaction | BlobTransaction | SetCodeTransaction
export type Transaction = SignedTransaction | Deposit

function addressOrNull(item: RlpItem | undefined): Address | null {
  const bytes = rlpBytes(item, 'to')
  return bytes.length === 0 ? null : addressFromBytes(rlpBytes(item, 'to', 20))
}

function accessListFromRlp(item: RlpItem | undefined): AccessList {
  return rlpList(item, 'access list').map((entry) => {
    const [address, slots, ...rest] = rlpList(entry, 'access list entry')
    if (rest.length > 0) throw new RlpError('access list entry: too many fields')
    return {
      address: addressFromBytes(rlpBytes(address, 'address', 20)),
      slots: rlpList(slots, 'storage keys').map((slot) => hashFromBytes(rlpBytes(slot, 'storage key', 32))),
    }
  })
}

const accessListToRlp = (list: AccessList): RlpItem => list.map(({ address, slots }) => [fromHex(address), slots.map(fromHex)])

function authorizationFromRlp(item: RlpItem): Authorization {
  const [chainId, address, nonce, yParity, r, s, ...rest] = rlpList(item, 'authorization')
  if (rest.length > 0) throw new RlpError('authorization: too many fields')
  return {
    chainId: rlpBigint(chainId, 'authorization chain id'),
    address: addressFromBytes(rlpBytes(address, 'authorization address', 20)),
    nonce: rlpBigint(nonce, 'authorization nonce', 8),
    yParity: Number(rlpBigint(yParity, 'authorization y parity', 1)),
    r: rlpBigint(r, 'authorization r'),
    s: rlpBigint(s, 'authorization s'),
  }
}

const authorizationToRlp = (a: Authorization): RlpItem => [
  rlpScalar(a.chainId),
  fromHex(a.address),
  rlpScalar(a.nonce),
  rlpScalar(a.yParity),
  rlpScalar(a.r),
  rlpScalar(a.s),
]

function parityOf(value: bigint): 0 | 1 {
  if (value !== 0n && value !== 1n) throw new RlpError(`y parity ${value}`)
  return value === 1n ? 1 : 0
}

function legacyFromRlp(fields: readonly RlpItem[]): LegacyTransaction {
  if (fields.length !== 9) throw new RlpError(`legacy transaction of ${fields.length} fields`)
  const v = rlpBigint(fields[6], 'v')
  if (v !== 27n && v !== 28n && v < 35n) throw new RlpError(`v ${v}`)
  const isProtected = v >= 35n
  return {
    type: 0,
    ...(isProtected && { chainId: (v - 35n) / 2n }),
    nonce: rlpBigint(fields[0], 'nonce', 8),
    gasPrice: rlpBigint(fields[1], 'gas price'),
    gasLimit: rlpBigint(fields[2], 'gas limit', 8),
    to: addressOrNull(fields[3]),
    value: rlpBigint(fields[4], 'value'),
    data: rlpBytes(fields[5], 'data'),
    yParity: parityOf((v - (isProtected ? 35n : 27n)) % 2n),
    r: rlpBigint(fields[7], 'r'),
    s: rlpBigint(fields[8], 's'),
  }
}

const fieldCounts: Readonly<Record<number, number>> = { 1: 11, 2: 12, 3: 14, 4: 13 }

/** Decodes the typed fields: chain id to access list, then the fields of the type, then the signature. */
function typedFromRlp(type: number, fields: readonly RlpItem[]): SignedTransaction {
  if (fields.length !== fieldCounts[type]) throw new RlpError(`transaction of type ${type} with ${fields.length} fields`)
  const prices = type === 1 ? 1 : 2
  const to = addressOrNull(fields[3 + prices])
  const base = {
    chainId: rlpBigint(fields[0], 'chain id'),
    nonce: rlpBigint(fields[1], 'nonce', 8),
    gasLimit: rlpBigint(fields[2 + prices], 'gas limit', 8),
    value: rlpBigint(fields[4 + prices], 'value'),
    data: rlpBytes(fields[5 + prices], 'data'),
    accessList: accessListFromRlp(fields[6 + prices]),
    yParity: parityOf(rlpBigint(fields.at(-3), 'y parity')),
    r: rlpBigint(fields.at(-2), 'r'),
    s: rlpBigint(fields.at(-1), 's'),
  }
  if (type === 1) return { ...base, type, to, gasPrice: rlpBigint(fields[2], 'gas price') }
  const fees = { maxPriorityFeePerGas: rlpBigint(fields[2], 'priority fee'), maxFeePerGas: rlpBigint(fields[3], 'max fee') }
  if (type === 2) return { ...base, ...fees, type, to }
  if (to === null) throw new RlpError(`transaction of type ${type} creates a contract`)
  if (type === 3) {
    const hashes = rlpList(fields[10], 'blob hashes').map((item) => hashFromBytes(rlpBytes(item, 'blob hash', 32)))
    return { ...base, ...fees, type, to, maxFeePerBlobGas: rlpBigint(fields[9], 'blob fee'), blobVersionedHashes: hashes }
  }
  return { ...base, ...fees, type: 4, to, authorizationList: rlpList(fields[9], 'authorizations').map(authorizationFromRlp) }
}

/** Decodes EIP-2718 bytes. Throws RlpError on an unknown type and on non-canonical bytes. Does not verify the signature. */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  const type = bytes[0]
  if (type === undefined) throw new RlpError('empty transaction')
  if (type >= 0xc0) return legacyFromRlp(rlpList(decodeRlp(bytes), 'transaction'))
  if (type === depositType) return decodeDeposit(bytes)
  if (type < 1 || type > 4) throw new RlpError(`unknown transaction type ${type}`)
  return typedFromRlp(type, rlpList(decodeRlp(bytes.subarray(1)), 'transaction'))
}

/** Returns all fields except the signature, in the order in which they are signed and encoded. */
function unsignedFields(tx: SignedTransaction): RlpItem[] {
  const to = tx.to === null ? emptyBytes : fromHex(tx.to)
  if (tx.type === 0) return [rlpScalar(tx.nonce), rlpScalar(tx.gasPrice), rlpScalar(tx.gasLimit), to, rlpScalar(tx.value), tx.data]
  const prices = tx.type === 1 ? [rlpScalar(tx.gasPrice)] : [rlpScalar(tx.maxPriorityFeePerGas), rlpScalar(tx.maxFeePerGas)]
  const fields: RlpItem[] = [
    rlpScalar(tx.chainId),
    rlpScalar(tx.nonce),
    ...prices,
    rlpScalar(tx.gasLimit),
    to,
    rlpScalar(tx.value),
    tx.data,
  ]
  fields.push(accessListToRlp(tx.accessList))
  if (tx.type === 3) fields.push(rlpScalar(tx.maxFeePerBlobGas), tx.blobVersionedHashes.map(fromHex))
  if (tx.type === 4) fields.push(tx.authorizationList.map(authorizationToRlp))
  return fields
}

/** Returns `v` of a legacy transaction; it includes the chain id since EIP-155. */
export function legacyV(tx: LegacyTransaction): bigint {
  return BigInt(tx.yParity) + (tx.chainId === undefined ? 27n : tx.chainId * 2n + 35n)
}

export function encodeTransaction(tx: Transaction): Uint8Array {
  if (tx.type === depositType) return encodeDeposit(tx)
  const parity = tx.type === 0 ? legacyV(tx) : BigInt(tx.yParity)
  const body = encodeRlp([...unsignedFields(tx), rlpScalar(parity), rlpScalar(tx.r), rlpScalar(tx.s)])
  return tx.type === 0 ? body : concatBytes(Uint8Array.of(tx.type), body)
}

/** Returns the transaction hash: keccak of the EIP-2718 bytes. */
export function hashTransaction(raw: Uint8Array): Hash {
  return hashFromBytes(keccak256(raw))
}

/** Returns the 32-byte digest that the sender signs. */
export function signingDigest(tx: SignedTransaction): Uint8Array {
  if (tx.type !== 0) return keccak256(concatBytes(Uint8Array.of(tx.type), encodeRlp(unsignedFields(tx))))
  const protection = tx.chainId === undefined ? [] : [rlpScalar(tx.chainId), emptyBytes, emptyBytes]
  return keccak256(encodeRlp([...unsignedFields(tx), ...protection]))
}

/** Returns r ‖ s, 64 bytes; undefined when either exceeds 32 bytes. */
export function signatureBytes(tx: { readonly r: bigint; readonly s: bigint }): Uint8Array | undefined {
  if (tx.r >> 256n !== 0n || tx.s >> 256n !== 0n) return undefined
  return concatBytes(bytesFromBigint(tx.r, 32), bytesFromBigint(tx.s, 32))
}

import type { Deposit } from './deposit.ts'
import type { Address, Hash } from './ids.ts'
import { addressField, bigintField, bytesField, has, hashField, type Json, listOf, numberField, objectOf, ShapeError } from './jsonShape.ts'
import {
  type AccessList,
  type Authorization,
  depositType,
  encodeTransaction,
  type SignedTransaction,
  type Transaction,
} from './transaction.ts'

function accessList(json: Json): AccessList {
  return listOf(json['accessList'], 'access list').map((value) => {
    const entry = objectOf(value, 'access list entry')
    return { address: addressField(entry, 'address'), slots: hashes(entry['storageKeys'], 'storage keys') }
  })
}

function hashes(value: unknown, what: string): Hash[] {
  return listOf(value, what).map((item) => hashField({ [what]: item }, what))
}

/** Returns the y parity, 0 or 1, from `yParity` or otherwise from `v`. */
function parityOf(json: Json, key: 'yParity' | 'v'): 0 | 1 {
  const parity = bigintField(json, typeof json[key] === 'string' ? key : 'v')
  if (parity > 1n) throw new ShapeError(`y parity ${parity}`)
  return parity === 1n ? 1 : 0
}

function authorizations(json: Json): Authorization[] {
  return listOf(json['authorizationList'], 'authorizations').map((value) => {
    const entry = objectOf(value, 'authorization')
    return {
      chainId: bigintField(entry, 'chainId'),
      address: addressField(entry, 'address'),
      nonce: bigintField(entry, 'nonce'),
      yParity: numberField(entry, typeof entry['yParity'] === 'string' ? 'yParity' : 'v'),
      r: bigintField(entry, 'r'),
      s: bigintField(entry, 's'),
    }
  })
}

function commonFields(json: Json): {
  nonce: bigint
  gasLimit: bigint
  to: Address | null
  value: bigint
  data: Uint8Array
  r: bigint
  s: bigint
} {
  return {
    nonce: bigintField(json, 'nonce'),
    gasLimit: bigintField(json, 'gas'),
    to: has(json, 'to') ? addressField(json, 'to') : null,
    value: bigintField(json, 'value'),
    data: bytesField(json, 'input'),
    r: bigintField(json, 'r'),
    s: bigintField(json, 's'),
  }
}

function legacyFromJson(json: Json): SignedTransaction {
  const v = bigintField(json, 'v')
  if (v < 27n || (v > 28n && v < 35n)) throw new ShapeError(`v ${v}`)
  const isProtected = v >= 35n
  const yParity = (v - (isProtected ? 35n : 27n)) % 2n === 1n ? 1 : 0
  const chain = isProtected && { chainId: (v - 35n) / 2n }
  return { type: 0, ...commonFields(json), gasPrice: bigintField(json, 'gasPrice'), yParity, ...chain }
}

function typedFromJson(type: number, json: Json): SignedTransaction {
  const base = {
    ...commonFields(json),
    yParity: parityOf(json, 'yParity'),
    chainId: bigintField(json, 'chainId'),
    accessList: accessList(json),
  }
  if (type === 1) return { ...base, type, gasPrice: bigintField(json, 'gasPrice') }
  const fees = { maxFeePerGas: bigintField(json, 'maxFeePerGas'), maxPriorityFeePerGas: bigintField(json, 'maxPriorityFeePerGas') }
  if (type === 2) return { ...base, ...fees, type }
  const { to } = base
  if (to === null) throw new ShapeError(`transaction of type ${type} creates a contract`)
  if (type === 4) return { ...base, ...fees, type, to, authorizationList: authorizations(json) }
  return {
    ...base,
    ...fees,
    type: 3,
    to,
    maxFeePerBlobGas: bigintField(json, 'maxFeePerBlobGas'),
    blobVersionedHashes: hashes(json['blobVersionedHashes'], 'blob hashes'),
  }
}

/**
 * Parses a deposit as clients write it. Absent, null and zero `mint` give the same bytes; absent `isSystemTx` is false. Nonce, signature and
 * receipt version are ignored.
 */
function depositFromJson(json: Json): Deposit {
  const isSystemTransaction = json['isSystemTx'] ?? false
  if (typeof isSystemTransaction !== 'boolean') throw new ShapeError('isSystemTx is neither true nor false')
  return {
    type: depositType,
    sourceHash: hashField(json, 'sourceHash'),
    from: addressField(json, 'from'),
    to: has(json, 'to') ? addressField(json, 'to') : null,
    mint: has(json, 'mint') ? bigintField(json, 'mint') : 0n,
    value: bigintField(json, 'value'),
    gasLimit: bigintField(json, 'gas'),
    isSystemTransaction,
    data: bytesField(json, 'input'),
  }
}

function fromJson(type: number, json: Json): Transaction {
  if (type === depositType) return depositFromJson(json)
  return type === 0 ? legacyFromJson(json) : typedFromJson(type, json)
}

/**
 * Encodes a transaction of a block's JSON, deposits included, as EIP-2718 bytes; returns undefined for a type that this version cannot encode.
 * The caller must check the result against its hash or the transactions root. Throws ShapeError when the value is not a transaction.
 */
export function transactionFromJson(value: unknown): Uint8Array | undefined {
  const json = objectOf(value, 'transaction')
  const type = has(json, 'type') ? numberField(json, 'type') : 0
  return type <= 4 || type === depositType ? encodeTransaction(fromJson(type, json)) : undefined
}

import { type AccessList, getAddress, type Hex, serializeTransaction, type TransactionSerializable } from 'viem'
import { demand, SpecError } from './cursor.ts'
import { integerOf, listOf, type Rlp, stringOf } from './rlp.ts'

type Common = {
  readonly nonce: bigint
  readonly gas: bigint
  /** Undefined for a contract creation. */
  readonly to: Hex | undefined
  readonly value: bigint
  readonly data: Hex
  readonly yParity: 0 | 1
  readonly r: bigint
  readonly s: bigint
}
export type SeenAuthorization = {
  readonly chainId: bigint
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}
type AccessListItems = { readonly accessList: AccessList }
type Fees = AccessListItems & { readonly maxPriorityFeePerGas: bigint; readonly maxFeePerGas: bigint }
export type SeenTransaction = Common &
  (
    | { readonly type: 'legacy'; readonly gasPrice: bigint; readonly isProtected: boolean }
    | ({ readonly type: 'eip2930'; readonly gasPrice: bigint } & AccessListItems)
    | ({ readonly type: 'eip1559' } & Fees)
    | ({ readonly type: 'eip7702'; readonly authorizationList: readonly SeenAuthorization[] } & Fees)
  )

/** Fields of each type in the variable part of a transaction of a span batch ("tx_datas"). */
export type VariablePart =
  | { readonly type: 'legacy'; readonly value: bigint; readonly gasPrice: bigint; readonly data: Hex }
  | ({ readonly type: 'eip2930'; readonly value: bigint; readonly gasPrice: bigint; readonly data: Hex } & AccessListItems)
  | ({ readonly type: 'eip1559'; readonly value: bigint; readonly data: Hex } & Fees)
  | ({
      readonly type: 'eip7702'
      readonly value: bigint
      readonly data: Hex
      readonly authorizationList: readonly SeenAuthorization[]
    } & Fees)

function accessListOf(item: Rlp | undefined): AccessList {
  return listOf(item, 'any', 'access_list').map((entry) => {
    const [address, keys] = listOf(entry, 2, 'access_list entry')
    return {
      address: stringOf(address, 20, 'access_list address'),
      storageKeys: listOf(keys, 'any', 'access_list keys').map((key) => stringOf(key, 32, 'access_list key')),
    }
  })
}

function authorizationOf(item: Rlp): SeenAuthorization {
  const [chainId, address, nonce, yParity, r, s] = listOf(item, 6, 'authorization')
  return {
    chainId: integerOf(chainId, 256, 'authorization chain_id'),
    address: stringOf(address, 20, 'authorization address'),
    nonce: integerOf(nonce, 64, 'authorization nonce'),
    yParity: Number(integerOf(yParity, 8, 'authorization y_parity')),
    r: integerOf(r, 256, 'authorization r'),
    s: integerOf(s, 256, 'authorization s'),
  }
}

/** @param type byte before the list; undefined for a legacy transaction */
export function variablePartOf(type: number | undefined, fields: Rlp): VariablePart {
  if (type === undefined) {
    const [value, gasPrice, data] = listOf(fields, 3, 'tx_data')
    return {
      type: 'legacy',
      value: integerOf(value, 256, 'value'),
      gasPrice: integerOf(gasPrice, 256, 'gasPrice'),
      data: stringOf(data, 'any', 'data'),
    }
  }
  if (type === 1) {
    const [value, gasPrice, data, accessList] = listOf(fields, 4, 'tx_data')
    return {
      type: 'eip2930',
      value: integerOf(value, 256, 'value'),
      gasPrice: integerOf(gasPrice, 256, 'gasPrice'),
      data: stringOf(data, 'any', 'data'),
      accessList: accessListOf(accessList),
    }
  }
  demand(type === 2 || type === 4, `unknown transaction type ${type}`)
  const [value, tip, cap, data, accessList, authorizations] = listOf(fields, type === 2 ? 5 : 6, 'tx_data')
  const common = {
    value: integerOf(value, 256, 'value'),
    maxPriorityFeePerGas: integerOf(tip, 256, 'max_priority_fee_per_gas'),
    maxFeePerGas: integerOf(cap, 256, 'max_fee_per_gas'),
    data: stringOf(data, 'any', 'data'),
    accessList: accessListOf(accessList),
  }
  if (type === 2) return { type: 'eip1559', ...common }
  return { type: 'eip7702', ...common, authorizationList: listOf(authorizations, 'any', 'authorization_list').map(authorizationOf) }
}

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

/**
 * Encodes the transaction to EIP-2718 bytes with viem.
 * @param chainId chain id of L2; a legacy transaction contains it in v only when it is protected (EIP-155)
 */
export function serialized(tx: SeenTransaction, chainId: number): Hex {
  const common = {
    // viem's type requires a number, its code accepts both; a nonce may exceed 2^53
    nonce: tx.nonce as unknown as number,
    gas: tx.gas,
    value: tx.value,
    data: tx.data,
    ...(tx.to !== undefined && { to: getAddress(tx.to) }),
  }
  const fields = serializable(tx, chainId, common)
  const signature = { r: word(tx.r), s: word(tx.s), yParity: tx.yParity, v: 27n + BigInt(tx.yParity) }
  try {
    return serializeTransaction(fields, signature)
  } catch (cause) {
    throw new SpecError('transaction that viem cannot encode', { cause })
  }
}

function serializable(tx: SeenTransaction, chainId: number, common: object): TransactionSerializable {
  switch (tx.type) {
    case 'legacy':
      return { ...common, type: 'legacy', gasPrice: tx.gasPrice, ...(tx.isProtected && { chainId }) }
    case 'eip2930':
      return { ...common, type: 'eip2930', chainId, gasPrice: tx.gasPrice, accessList: tx.accessList }
    case 'eip1559': {
      const { maxFeePerGas, maxPriorityFeePerGas, accessList } = tx
      return { ...common, type: 'eip1559', chainId, maxFeePerGas, maxPriorityFeePerGas, accessList }
    }
    case 'eip7702': {
      const { maxFeePerGas, maxPriorityFeePerGas, accessList } = tx
      const authorizationList = tx.authorizationList.map((one) => ({
        chainId: one.chainId as unknown as number,
        address: one.address,
        nonce: one.nonce as unknown as number,
        yParity: one.yParity,
        r: word(one.r),
        s: word(one.s),
      }))
      return { ...common, type: 'eip7702', chainId, maxFeePerGas, maxPriorityFeePerGas, accessList, authorizationList }
    }
  }
}

import { equalBytes } from '#lib/bytes'
import type { AccessList, Authorization } from '#types/transaction'
import type { CallRequest } from '../callPorts.ts'
import { unsupported } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { ParamError, within } from '../paramError.ts'
import type { ParamCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'
import { address, byteQuantity, bytes, gasQuantity, hash, listOf, quantity, wrongType } from './values.ts'

export type { CallRequest } from '../callPorts.ts'

const maxAccessListEntries = 4_096
const storageKeys = listOf(hash, maxAccessListEntries)

const accessListEntry: ParamCodec<AccessList[number]> = {
  doc: '{address, storageKeys}',
  parse(value): AccessList[number] {
    if (!isJsonObject(value)) throw wrongType(value, 'an access list entry')
    const { address: account, storageKeys: slots } = value
    return {
      address: within('address', () => address.parse(account)),
      slots: within('storageKeys', () => storageKeys.parse(slots)),
    }
  },
}
const accessList = listOf(accessListEntry, maxAccessListEntries)

/** Bound on authorizations: the gas of a call pays for no more, at 25,000 each. */
const maxAuthorizations = 1_024

const parity: ParamCodec<number> = {
  doc: '0x0 or 0x1',
  parse: (value) => Number(byteQuantity.parse(value)),
}

const authorization: ParamCodec<Authorization> = {
  doc: '{chainId, address, nonce, yParity (or v), r, s}',
  parse(value): Authorization {
    if (!isJsonObject(value)) throw wrongType(value, 'a signed authorization')
    const need = <T>(key: string, codec: ParamCodec<T>): T => within(key, () => codec.parse(value[key]))
    const { yParity, v } = value
    return {
      chainId: need('chainId', quantity),
      address: need('address', address),
      nonce: need('nonce', gasQuantity),
      yParity: yParity === undefined && v !== undefined ? need('v', parity) : need('yParity', parity),
      r: need('r', quantity),
      s: need('s', quantity),
    }
  },
}
const authorizationList = listOf(authorization, maxAuthorizations)

/** Parses authorizations; an empty list counts as absent, because a set-code transaction has at least one. */
function parseAuthorizations(request: JsonObject): readonly Authorization[] | undefined {
  const list = optional(request, 'authorizationList', authorizationList)
  return list?.length === 0 ? undefined : list
}

function optional<T>(request: JsonObject, key: string, codec: ParamCodec<T>): T | undefined {
  const value = request[key]
  return value === undefined || value === null ? undefined : within(key, () => codec.parse(value))
}

function parseData(request: JsonObject): Uint8Array | undefined {
  const data = optional(request, 'data', bytes)
  const input = optional(request, 'input', bytes)
  if (data !== undefined && input !== undefined && !equalBytes(data, input)) {
    const why = 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data'
    throw new ParamError(why, 'senseless')
  }
  return input ?? data
}

/** Members that would change the outcome and are not supported. */
const unsupportedMembers = ['blobVersionedHashes', 'blobs', 'sourceHash', 'mint']

export const callRequest: ParamCodec<CallRequest> = {
  doc: '{from, to, gas, gasPrice or maxFeePerGas and maxPriorityFeePerGas, value, input, accessList, authorizationList, chainId}, each optional',
  schema: refTo('CallRequest'),
  parse(value): CallRequest {
    if (!isJsonObject(value)) throw wrongType(value, 'a transaction request object')
    const extra = unsupportedMembers.find((key) => value[key] !== undefined && value[key] !== null)
    if (extra !== undefined) throw unsupported(`the member ${extra} of a call`)
    const request = {
      from: optional(value, 'from', address),
      to: optional(value, 'to', address),
      gas: optional(value, 'gas', gasQuantity),
      gasPrice: optional(value, 'gasPrice', quantity),
      maxFeePerGas: optional(value, 'maxFeePerGas', quantity),
      maxPriorityFeePerGas: optional(value, 'maxPriorityFeePerGas', quantity),
      value: optional(value, 'value', quantity),
      accessList: optional(value, 'accessList', accessList),
      authorizationList: parseAuthorizations(value),
      chainId: optional(value, 'chainId', quantity),
      nonce: optional(value, 'nonce', gasQuantity),
    }
    optional(value, 'type', gasQuantity) // these members have no effect and must be well-formed
    optional(value, 'maxFeePerBlobGas', quantity)
    return { ...request, data: parseData(value) }
  },
}

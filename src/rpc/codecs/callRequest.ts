import { equalBytes } from '#lib/bytes'
import type { AccessList, Authorization } from '#types/transaction'
import type { CallRequest } from '../callPorts.ts'
import { unsupported } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { refTo } from '../reference/schemas.ts'
import type { ParamCodec } from '../registry.ts'
import { member, objectOf, required } from './members.ts'
import { ParamError } from './paramError.ts'
import { address, byteQuantity, bytes, gasQuantity, hash, listOf, quantity } from './values.ts'

const maxAccessListEntries = 4_096
const storageKeys = listOf(hash, maxAccessListEntries)

const accessListEntry: ParamCodec<AccessList[number]> = {
  doc: '{address, storageKeys}',
  parse(value): AccessList[number] {
    const entry = objectOf(value, 'an access list entry')
    return { address: required(entry, 'address', address), slots: required(entry, 'storageKeys', storageKeys) }
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
    const signed = objectOf(value, 'a signed authorization')
    const { yParity, v } = signed
    return {
      chainId: required(signed, 'chainId', quantity),
      address: required(signed, 'address', address),
      nonce: required(signed, 'nonce', gasQuantity),
      yParity: required(signed, yParity === undefined && v !== undefined ? 'v' : 'yParity', parity),
      r: required(signed, 'r', quantity),
      s: required(signed, 's', quantity),
    }
  },
}
const authorizationList = listOf(authorization, maxAuthorizations)

/** Parses authorizations; an empty list counts as absent, because a set-code transaction has at least one. */
function parseAuthorizations(request: JsonObject): readonly Authorization[] | undefined {
  const list = member(request, 'authorizationList', authorizationList)
  return list?.length === 0 ? undefined : list
}

function parseData(request: JsonObject): Uint8Array | undefined {
  const data = member(request, 'data', bytes)
  const input = member(request, 'input', bytes)
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
  parse(given): CallRequest {
    const value = objectOf(given, 'a transaction request object')
    const extra = unsupportedMembers.find((key) => value[key] !== undefined && value[key] !== null)
    if (extra !== undefined) throw unsupported(`the member ${extra} of a call`)
    const request = {
      from: member(value, 'from', address),
      to: member(value, 'to', address),
      gas: member(value, 'gas', gasQuantity),
      gasPrice: member(value, 'gasPrice', quantity),
      maxFeePerGas: member(value, 'maxFeePerGas', quantity),
      maxPriorityFeePerGas: member(value, 'maxPriorityFeePerGas', quantity),
      value: member(value, 'value', quantity),
      accessList: member(value, 'accessList', accessList),
      authorizationList: parseAuthorizations(value),
      chainId: member(value, 'chainId', quantity),
      nonce: member(value, 'nonce', gasQuantity),
    }
    member(value, 'type', gasQuantity) // these members have no effect and must be well-formed
    member(value, 'maxFeePerBlobGas', quantity)
    return { ...request, data: parseData(value) }
  },
}

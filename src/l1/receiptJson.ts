import { addressField, bigintField, bytesField, has, hashField, listOf, numberField, objectOf, ShapeError } from '#types/jsonShape'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'

function logFromJson(value: unknown): Log {
  const json = objectOf(value, 'log')
  const topics = listOf(json['topics'], 'topics').map((topic) => hashField({ topic }, 'topic'))
  return { address: addressField(json, 'address'), topics, data: bytesField(json, 'data') }
}

/** Decodes the consensus fields of a receipt. ShapeError when a field is missing or malformed. */
export function receiptFromJson(value: unknown): Receipt {
  const json = objectOf(value, 'receipt')
  const type = has(json, 'type') ? numberField(json, 'type') : 0
  if (type > 0xff) throw new ShapeError(`receipt type ${type} exceeds one byte`)
  return {
    type,
    succeeded: bigintField(json, 'status') === 1n,
    cumulativeGasUsed: bigintField(json, 'cumulativeGasUsed'),
    logsBloom: bytesField(json, 'logsBloom'),
    logs: listOf(json['logs'], 'logs').map(logFromJson),
  }
}

import { fromHex } from '#lib/hex'
import type { Header } from '#types/header'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'

/** The answer is not of the shape that the method has. */
export class ShapeError extends Error {}

export type Json = Readonly<Record<string, unknown>>

export function objectOf(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError(`${what} is no object`)
  return value as Json
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ShapeError(`${what} is no list`)
  return value
}

function textOf(json: Json, key: string): string {
  const value = json[key]
  if (typeof value !== 'string') throw new ShapeError(`${key} is no text`)
  return value
}

/** Whether a field is there; other clients write `null` for none. */
const has = (json: Json, key: string): boolean => json[key] !== undefined && json[key] !== null

const checked = <T>(json: Json, key: string, parse: (text: string) => T): T => {
  try {
    return parse(textOf(json, key))
  } catch (error) {
    if (error instanceof ShapeError) throw error
    throw new ShapeError(`${key} is malformed`, { cause: error })
  }
}

export const bytesField = (json: Json, key: string): Uint8Array => checked(json, key, fromHex)
export const hashField = (json: Json, key: string): Hash => checked(json, key, parseHash)
export const addressField = (json: Json, key: string): Address => checked(json, key, parseAddress)

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/
export function bigintField(json: Json, key: string): bigint {
  const text = textOf(json, key)
  if (!quantityPattern.test(text)) throw new ShapeError(`${key} is no quantity`)
  return BigInt(text)
}

export function numberField(json: Json, key: string): number {
  const value = bigintField(json, key)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ShapeError(`${key} is not a safe integer`)
  return Number(value)
}

/** The header in an `eth_getBlockBy…` answer, without what this version does not know. ShapeError when it is none. */
export function headerFromJson(json: Json): Header {
  return {
    parentHash: hashField(json, 'parentHash'),
    ommersHash: hashField(json, 'sha3Uncles'),
    beneficiary: addressField(json, 'miner'),
    stateRoot: hashField(json, 'stateRoot'),
    transactionsRoot: hashField(json, 'transactionsRoot'),
    receiptsRoot: hashField(json, 'receiptsRoot'),
    logsBloom: bytesField(json, 'logsBloom'),
    difficulty: bigintField(json, 'difficulty'),
    number: numberField(json, 'number'),
    gasLimit: bigintField(json, 'gasLimit'),
    gasUsed: bigintField(json, 'gasUsed'),
    timestamp: numberField(json, 'timestamp'),
    extraData: bytesField(json, 'extraData'),
    mixHash: hashField(json, 'mixHash'),
    nonce: bytesField(json, 'nonce'),
    ...(has(json, 'baseFeePerGas') && { baseFeePerGas: bigintField(json, 'baseFeePerGas') }),
    ...(has(json, 'withdrawalsRoot') && { withdrawalsRoot: hashField(json, 'withdrawalsRoot') }),
    ...(has(json, 'blobGasUsed') && { blobGasUsed: bigintField(json, 'blobGasUsed') }),
    ...(has(json, 'excessBlobGas') && { excessBlobGas: bigintField(json, 'excessBlobGas') }),
    ...(has(json, 'parentBeaconBlockRoot') && { parentBeaconBlockRoot: hashField(json, 'parentBeaconBlockRoot') }),
    ...(has(json, 'requestsHash') && { requestsHash: hashField(json, 'requestsHash') }),
  }
}

function logFromJson(value: unknown): Log {
  const json = objectOf(value, 'log')
  const topics = listOf(json['topics'], 'topics').map((topic) => hashField({ topic }, 'topic'))
  return { address: addressField(json, 'address'), topics, data: bytesField(json, 'data') }
}

/** The consensus part of a receipt. ShapeError when it is none. */
export function receiptFromJson(value: unknown): Receipt {
  const json = objectOf(value, 'receipt')
  const type = has(json, 'type') ? numberField(json, 'type') : 0
  if (type > 0xff) throw new ShapeError(`receipt of type ${type}`)
  return {
    type,
    succeeded: bigintField(json, 'status') === 1n,
    cumulativeGasUsed: bigintField(json, 'cumulativeGasUsed'),
    logsBloom: bytesField(json, 'logsBloom'),
    logs: listOf(json['logs'], 'logs').map(logFromJson),
  }
}

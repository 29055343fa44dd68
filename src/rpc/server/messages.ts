import { Buffer } from 'node:buffer'
import { invalidRequest, type RpcError, unreadableParams } from '../errors.ts'
import { isJsonObject, JsonText, type Result } from '../json.ts'
import { ByteList } from '../results/byteList.ts'

/** JSON, as a string or as UTF-8 bytes. */
export type Answer = string | ByteList

export type RequestId = string | number | null
export type Request = { readonly id: RequestId | undefined; readonly method: string; readonly params: readonly unknown[] }

export function errorText(id: RequestId, error: RpcError): string {
  const { code, message, data } = error
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

export function answerWith(id: RequestId, result: Result): Answer {
  const idText = typeof id === 'number' ? `${id}` : JSON.stringify(id)
  if (result instanceof ByteList) return result.between(`{"jsonrpc":"2.0","id":${idText},"result":`, '}')
  const text = result instanceof JsonText ? result.text : JSON.stringify(result ?? null)
  return `{"jsonrpc":"2.0","id":${idText},"result":${text}}`
}

export function listOf(answers: readonly Answer[]): Answer {
  if (answers.every((one) => typeof one === 'string')) return `[${answers.join(',')}]`
  const pieces = answers.flatMap((one, at) => [Buffer.from(at === 0 ? '[' : ','), typeof one === 'string' ? Buffer.from(one, 'utf8') : one])
  return ByteList.concat([...pieces, Buffer.from(']')])
}

/** Whether a value can be sent back as an id. Numbers such as 1e999 cannot. */
const isId = (value: unknown): value is RequestId => value === null || typeof value === 'string' || Number.isFinite(value)

/** @see JSON-RPC 2.0, "Request object" */
export function parseRequest(item: unknown): Request | { readonly id: RequestId | undefined; readonly refused: RpcError } {
  if (!isJsonObject(item)) return { id: null, refused: invalidRequest() }
  const { jsonrpc, id, method, params } = item
  const knownId = isId(id) ? id : null
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !isId(id))) return { id: knownId, refused: invalidRequest() }
  if (params === undefined || params === null) return { id, method, params: [] }
  if (!Array.isArray(params)) return { id, refused: unreadableParams('parameters are a list, by position') }
  return { id, method, params }
}

import { Buffer } from 'node:buffer'
import { invalidRequest, type RpcError, unreadableParams } from '../errors.ts'
import { isJsonObject, type JsonObject, JsonText, type Result } from '../json.ts'
import { ByteList } from '../results/byteList.ts'

/** JSON, as a string or as UTF-8 bytes. */
export type Answer = string | ByteList

/** `JsonText`: an integer that a number cannot hold exactly. */
export type RequestId = string | number | null | JsonText
export type Request = { readonly id: RequestId | undefined; readonly method: string; readonly params: readonly unknown[] }

export function errorText(id: RequestId, error: RpcError): string {
  const { code, message, data } = error
  const text = JSON.stringify({ code, message, ...(data !== undefined && { data }) })
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${text}}`
}

function idText(id: RequestId): string {
  if (typeof id === 'number') return `${id}`
  return id instanceof JsonText ? id.text : JSON.stringify(id)
}

export function answerWith(id: RequestId, result: Result): Answer {
  if (result instanceof ByteList) return result.between(`{"jsonrpc":"2.0","id":${idText(id)},"result":`, '}')
  const text = result instanceof JsonText ? result.text : JSON.stringify(result ?? null)
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${text}}`
}

export function listOf(answers: readonly Answer[]): Answer {
  if (answers.every((one) => typeof one === 'string')) return `[${answers.join(',')}]`
  const pieces = answers.flatMap((one, at) => [Buffer.from(at === 0 ? '[' : ','), typeof one === 'string' ? Buffer.from(one, 'utf8') : one])
  return ByteList.concat([...pieces, Buffer.from(']')])
}

/** Whether a value is an integer that has lost digits when it was parsed. */
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

const hasRoundedId = (item: unknown): item is JsonObject => isJsonObject(item) && isRounded(item['id'])

/** Whether a message has a request whose id is an integer that a number cannot hold. */
export const losesId = (message: unknown): boolean => (Array.isArray(message) ? message.some(hasRoundedId) : hasRoundedId(message))

/** Parses a message for which `losesId` is true. Such ids are their JSON, so that an answer has the id of its request digit by digit. */
export function parseWithIds(text: string): unknown {
  const ids = new Map<unknown, string>()
  const message: unknown = JSON.parse(text, function (this: unknown, key: string, member: unknown, at?: { readonly source?: string }) {
    if (key === 'id' && at?.source !== undefined) ids.set(this, at.source)
    return member
  })
  const withId = (item: unknown): unknown => (hasRoundedId(item) ? { ...item, id: new JsonText(ids.get(item) ?? 'null') } : item)
  return Array.isArray(message) ? message.map(withId) : withId(message)
}

/** Whether a value can be sent back as an id. Numbers such as 1e999 cannot. */
const isId = (value: unknown): value is RequestId =>
  value === null || typeof value === 'string' || (Number.isFinite(value) && !isRounded(value)) || value instanceof JsonText

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

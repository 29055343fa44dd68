import { JsonText } from '#rpc/json'
import { ByteList } from '#rpc/results/byteList'

/** Result of a method as a client reads it. */
export function readResult<T = unknown>(result: unknown): T {
  if (result instanceof ByteList) return JSON.parse(result.toString()) as T
  return (result instanceof JsonText ? JSON.parse(result.text) : result) as T
}

import type { JsonSchema } from '#rpc/reference/schemas'
import { mismatch } from '#test/harness/rpc/schemaJudge'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const internalError = -32603

/**
 * Returns the error in one JSON-RPC response; undefined for a valid one.
 * @param schema schema of the result, for a known method
 */
export function fault(answer: unknown, schema: JsonSchema | undefined): string | undefined {
  if (!isObject(answer)) return 'is not an object'
  if (!('id' in answer)) return 'has no id'
  const { jsonrpc, result, error } = answer
  if (jsonrpc !== '2.0') return 'has no jsonrpc 2.0'
  if ('result' in answer === 'error' in answer) return 'does not have exactly one of result and error'
  if (!('error' in answer)) {
    const why = schema === undefined ? undefined : mismatch(schema, result)
    return why === undefined ? undefined : `has a result that violates its schema: ${why}`
  }
  if (!isObject(error)) return 'has an error that is not an object'
  const { code, message, data } = error
  if (!Number.isInteger(code) || typeof message !== 'string' || message === '') return 'has an error without code or message'
  // an internal error with data is intended, such as op-node's for an unknown block
  return code === internalError && message === 'Internal error' && data === undefined ? 'is an internal error' : undefined
}

/** Returns the error in the response to a batch. @param ids ids of the requests that expect a response */
export function batchFault(answer: unknown, ids: readonly unknown[]): string | undefined {
  if (!Array.isArray(answer)) return isObject(answer) && 'error' in answer ? fault(answer, undefined) : 'is not a list'
  if (answer.length !== ids.length) return `has ${answer.length} responses to ${ids.length} requests`
  for (const [index, item] of answer.entries()) {
    const why = fault(item, undefined)
    if (why !== undefined) return why
    if ((item as { id: unknown }).id !== ids[index]) return `has the id ${JSON.stringify((item as { id: unknown }).id)} at ${index}`
  }
  return undefined
}

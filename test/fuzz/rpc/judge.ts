import type { JsonSchema } from '#rpc/schemas'
import { mismatch } from '#test/harness/rpc/schemaJudge'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const internalError = -32603

/**
 * What is wrong with one JSON-RPC answer; undefined when nothing is.
 * @param schema of the result, when the method is known and told one
 */
export function fault(answer: unknown, schema: JsonSchema | undefined): string | undefined {
  if (!isObject(answer)) return 'is no object'
  if (!('id' in answer)) return 'has no id'
  const { jsonrpc, result, error } = answer
  if (jsonrpc !== '2.0') return 'has no jsonrpc 2.0'
  if ('result' in answer === 'error' in answer) return 'has not exactly one of result and error'
  if (!('error' in answer)) {
    const why = schema === undefined ? undefined : mismatch(schema, result)
    return why === undefined ? undefined : `has a result that is not what its schema says: ${why}`
  }
  if (!isObject(error)) return 'has an error that is no object'
  const { code, message, data } = error
  if (!Number.isInteger(code) || typeof message !== 'string' || message === '') return 'has an error without code or message'
  // with data it is told on purpose, as op-node's of a block that is not there
  return code === internalError && message === 'Internal error' && data === undefined ? 'is an internal error' : undefined
}

/** What is wrong with the answer to a whole body that had these ids, as many as wanted an answer. */
export function batchFault(answer: unknown, ids: readonly unknown[]): string | undefined {
  if (!Array.isArray(answer)) return isObject(answer) && 'error' in answer ? fault(answer, undefined) : 'is no list'
  if (answer.length !== ids.length) return `has ${answer.length} answers to ${ids.length} requests`
  for (const [index, item] of answer.entries()) {
    const why = fault(item, undefined)
    if (why !== undefined) return why
    if ((item as { id: unknown }).id !== ids[index]) return `has the id ${JSON.stringify((item as { id: unknown }).id)} at ${index}`
  }
  return undefined
}

import { objectOf, ShapeError } from './jsonShape.ts'

/** Longest part of an error message that is read. */
const maxMessage = 200

/** Result or error of a JSON-RPC 2.0 response. `message` may quote the credentials of the request in any form, so it must not be logged. */
export type RpcAnswer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }

/** Returns the request object of a call. */
export const rpcRequest = ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }, id: number): unknown => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

/** Reads a JSON-RPC response. @throws ShapeError when it has neither result nor error */
export function readRpcAnswer(value: unknown): RpcAnswer {
  const { error, result } = objectOf(value, 'answer')
  if (error == null) {
    if (result === undefined) throw new ShapeError('neither result nor error')
    return { kind: 'result', result }
  }
  const { code, message, data } = objectOf(error, 'error')
  return {
    kind: 'error',
    code: Number(code),
    message: typeof message === 'string' ? message.slice(0, maxMessage) : '',
    ...(data !== undefined && { data }),
  }
}

/**
 * Returns the answers of a batch in the order of the ids 0, 1, …; the server may send them in any order.
 * @throws ShapeError when an answer is missing
 */
export function answersInOrder(answers: readonly unknown[], count: number): readonly unknown[] {
  const byId = new Map(answers.map((answer) => [objectOf(answer, 'answer')['id'], answer]))
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id)
    if (answer === undefined) throw new ShapeError(`no answer to call ${id} of the batch`)
    return answer
  })
}

import { randomBytes } from 'node:crypto'
import { toHex } from '#lib/hex'
import { RpcError } from '#rpc/errors'
import { JsonText, type Result } from '#rpc/json'
import type { Method, Registry } from '#rpc/registry'
import { ByteList } from '#rpc/results/byteList'
import type { PassedAnswer, PassedCall } from './rpcWorkerProtocol.ts'

/** Methods whose first parameter is the id of a filter. */
const ofFilters: ReadonlySet<string> = new Set(['eth_getFilterChanges', 'eth_getFilterLogs', 'eth_uninstallFilter'])

/** Returns a generator of filter ids for one thread: its number, then random bytes. */
export const filterIdsOf = (thread: number) => (): string => toHex(Uint8Array.of(thread, ...randomBytes(15)))

/** Returns the thread that created a filter's id; undefined: it is not an id. */
function threadOfFilter(id: unknown): number | undefined {
  return typeof id === 'string' && /^0x[\da-f]{32}$/.test(id) ? Number.parseInt(id.slice(2, 4), 16) : undefined
}

function received(answer: PassedAnswer): Result {
  switch (answer.kind) {
    case 'result':
      return answer.result
    case 'text':
      return new JsonText(answer.text)
    case 'error':
      throw new RpcError(answer.code, answer.message, answer.data)
  }
}

export type FilterRoutes = {
  /** number of this thread, and the number of threads */
  readonly here: number
  readonly threads: number
  readonly passOn: (thread: number, call: PassedCall) => Promise<PassedAnswer>
}

/** Returns the registry with methods of filters passed on to the thread that has the filter. */
export function withFilterRoutes<Context>(registry: Registry<Context>, { here, threads, passOn }: FilterRoutes): Registry<Context> {
  const routed = (method: Method<Context>): Method<Context> => ({
    ...method,
    call(context, params): Result | Promise<Result> {
      const thread = threadOfFilter(params[0])
      if (thread === undefined || thread === here || thread >= threads) return method.call(context, params)
      return passOn(thread, { method: method.name, params }).then(received)
    },
  })
  return new Map([...registry].map(([name, method]) => [name, ofFilters.has(name) ? routed(method) : method]))
}

/** Answers a call that another thread passed on to this one. */
export async function answerPassed<Context>(
  registry: Registry<Context>,
  context: Context,
  { method, params }: PassedCall,
): Promise<PassedAnswer> {
  try {
    const result = await registry.get(method)?.call(context, params)
    if (result instanceof ByteList) return { kind: 'text', text: result.toString() }
    return result instanceof JsonText ? { kind: 'text', text: result.text } : { kind: 'result', result: result ?? null }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, message, data } = error
    return { kind: 'error', code, message, ...(data !== undefined && { data }) }
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Ticket } from '../context.ts'
import {
  batchTooLarge,
  internalError,
  invalidRequest,
  methodNotFound,
  RpcError,
  responseTooBig,
  timedOut,
  unavailable,
  unreadableParams,
} from '../errors.ts'
import { isJsonObject, type Json, JsonText } from '../json.ts'
import { type CostClass, costClasses, type Method, type Registry } from '../registry.ts'
import { Gate } from './gate.ts'
import type { AnswerShare } from './unread.ts'

export type DispatchDeps<Context, By extends Caller = Caller> = {
  readonly registry: Registry<Context>
  /** The context of one call, and of whoever makes it. */
  readonly contextOf: (ticket: Ticket, caller: By) => Context
  readonly log: Log
  readonly clock: Clock
}

export type DispatchLimits = {
  readonly maxBatch: number
  /** bytes of one answer; in a batch, of all together */
  readonly maxResponseBytes: number
  /** calls of one cost class that wait for their turn */
  readonly maxWaiting: number
}

/** Who sent a body; once he is gone, what can stop stops and nothing more of a batch is begun. */
export type Caller = {
  readonly isGone: boolean
  /** counts what is made for him */
  readonly share: Pick<AnswerShare, 'add' | 'keep' | 'takeKept'>
}

/** Answers parsed JSON-RPC bodies. */
export type Dispatcher<By extends Caller = Caller> = {
  /** @returns JSON text; undefined when there were notifications only, or nobody waits for it */
  answer(body: unknown, caller: By): Promise<string | undefined>
}

type RequestId = string | number | null
type Request = { readonly id: RequestId | undefined; readonly method: string; readonly params: readonly unknown[] }

export function errorText(id: RequestId, error: RpcError): string {
  const { code, message, data } = error
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

function answerText(id: RequestId, result: Json | JsonText): string {
  if (result instanceof JsonText) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.text}}`
  return JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null })
}

const isId = (value: unknown): value is RequestId => value === null || typeof value === 'string' || typeof value === 'number'

/** @see JSON-RPC 2.0, "Request object" */
function parseRequest(item: unknown): Request | { readonly id: RequestId | undefined; readonly refused: RpcError } {
  if (!isJsonObject(item)) return { id: null, refused: invalidRequest() }
  const { jsonrpc, id, method, params } = item
  const knownId = isId(id) ? id : null
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !isId(id))) return { id: knownId, refused: invalidRequest() }
  if (params === undefined || params === null) return { id, method, params: [] }
  if (!Array.isArray(params)) return { id, refused: unreadableParams('parameters are a list, by position') }
  return { id, method, params }
}

/** Costs after which others get a turn of the event loop before the next call of a batch. */
const heavy: ReadonlySet<CostClass> = new Set(['block-read', 'range-read', 'execution'])

export function createDispatcher<Context, By extends Caller = Caller>(
  deps: DispatchDeps<Context, By>,
  limits: DispatchLimits,
): Dispatcher<By> {
  const { registry, contextOf, log, clock } = deps
  const classes = Object.entries(costClasses) as [CostClass, (typeof costClasses)[CostClass]][]
  const gates = new Map(classes.map(([name, { maxRunning }]) => [name, new Gate(maxRunning, limits.maxWaiting)]))

  async function run(method: Method<Context>, params: readonly unknown[], caller: By): Promise<Json | JsonText> {
    let isLate = false
    const ticket: Ticket = {
      get isCancelled(): boolean {
        return isLate || caller.isGone
      },
    }
    const work = (): Json | JsonText | Promise<Json | JsonText> => {
      if (ticket.isCancelled) throw timedOut() // while it waited for its turn
      return method.call(contextOf(ticket, caller), params)
    }
    const late = Promise.withResolvers<never>()
    using _timer = clock.after(costClasses[method.cost].timeoutMs, () => {
      isLate = true
      late.reject(timedOut())
    })
    return await Promise.race([gates.get(method.cost)?.run(work) ?? work(), late.promise])
  }

  /** What the caller did wrong is his to know, and what is away for a while; anything else is ours, and only the log tells. */
  function errorOf(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof Fault && error.severity === 'retry') return unavailable(error)
    log.error('rpc method failed', { method, error })
    return internalError()
  }

  async function resultText({ id, method, params }: Request, caller: By): Promise<string> {
    try {
      const definition = registry.get(method)
      if (definition === undefined) throw methodNotFound()
      const result = await run(definition, params, caller)
      const text = answerText(id ?? null, result)
      if (text.length > limits.maxResponseBytes) throw responseTooBig(limits.maxResponseBytes)
      return text
    } catch (error) {
      return errorText(id ?? null, errorOf(error, method))
    }
  }

  async function answerOne(item: unknown, caller: By): Promise<string | undefined> {
    const request = parseRequest(item)
    const text = 'refused' in request ? errorText(request.id ?? null, request.refused) : await resultText(request, caller)
    if (request.id === undefined) return undefined
    caller.share.add(text.length)
    return text
  }

  function costOf(item: unknown): CostClass | undefined {
    if (!isJsonObject(item)) return undefined
    const { method } = item
    return typeof method === 'string' ? registry.get(method)?.cost : undefined
  }

  const isHeavy = (item: unknown): boolean => {
    const cost = costOf(item)
    return cost !== undefined && heavy.has(cost)
  }

  /** What a batch hands over is begun together, in order; anything else has its turn alone. */
  function* groupsOf(items: readonly unknown[]): Iterable<readonly unknown[]> {
    let submitted: unknown[] = []
    for (const item of items) {
      if (costOf(item) === 'submit') {
        submitted.push(item)
        continue
      }
      if (submitted.length > 0) yield submitted
      submitted = []
      yield [item]
    }
    if (submitted.length > 0) yield submitted
  }

  async function answerBatch(items: readonly unknown[], caller: By): Promise<string | undefined> {
    if (items.length === 0) return errorText(null, invalidRequest())
    if (items.length > limits.maxBatch) return errorText(null, batchTooLarge(limits.maxBatch))
    let length = 0
    for (const group of groupsOf(items)) {
      if (caller.isGone) return undefined
      const answered = (await Promise.all(group.map((item) => answerOne(item, caller)))).filter((text) => text !== undefined)
      for (const text of answered) caller.share.keep(text)
      length = answered.reduce((sum, text) => sum + text.length, length)
      if (length > limits.maxResponseBytes) {
        caller.share.takeKept()
        return errorText(null, responseTooBig(limits.maxResponseBytes))
      }
      if (group.some(isHeavy)) await nextTurn()
    }
    const texts = caller.share.takeKept()
    return texts.length === 0 ? undefined : `[${texts.join(',')}]`
  }

  return { answer: (body, caller) => (Array.isArray(body) ? answerBatch(body, caller) : answerOne(body, caller)) }
}

import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { ByteList } from '../byteList.ts'
import type { CancellationToken } from '../context.ts'
import {
  batchTooLarge,
  internalError,
  invalidRequest,
  methodNotFound,
  overRateLimit,
  overRateLimitCode,
  RpcError,
  responseTooBig,
  timedOut,
  unavailable,
  unreadableParams,
} from '../errors.ts'
import { createGates, type Gates } from '../gates.ts'
import { isJsonObject, JsonText, type Result } from '../json.ts'
import type { RpcMetrics } from '../metrics.ts'
import { type CostClass, costClasses, type Method, type Registry } from '../registry.ts'
import { parseBody } from './body.ts'
import type { Caller } from './caller.ts'

export type DispatchDeps<Context, By extends Caller = Caller> = {
  readonly registry: Registry<Context>
  /** Creates the context of one call. */
  readonly contextOf: (cancellation: CancellationToken, caller: By) => Context
  /** shared by the servers of the thread; absent: the server has its own */
  readonly gates?: Gates | undefined
  readonly metrics?: Pick<RpcMetrics, 'limitHits'> | undefined
  readonly log: Log
  readonly clock: Clock
}

export type DispatchLimits = {
  readonly maxBatch: number
  /** bytes of one answer; of a batch, of all its answers together */
  readonly maxResponseBytes: number
}

/** JSON, as a string or as UTF-8 bytes. */
export type Answer = string | ByteList

/** undefined for notifications only, or when the client is gone */
type MaybeAnswer = Answer | undefined

/** Answers JSON-RPC bodies. */
export type Dispatcher<By extends Caller = Caller> = {
  /** Returns a promise only when a call is asynchronous or has to wait. */
  answer(body: Buffer, caller: By): MaybeAnswer | Promise<MaybeAnswer>
}

type RequestId = string | number | null
type Request = { readonly id: RequestId | undefined; readonly method: string; readonly params: readonly unknown[] }

export function errorText(id: RequestId, error: RpcError): string {
  const { code, message, data } = error
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

function answerWith(id: RequestId, result: Result): Answer {
  const idText = typeof id === 'number' ? `${id}` : JSON.stringify(id)
  if (result instanceof ByteList) return result.between(`{"jsonrpc":"2.0","id":${idText},"result":`, '}')
  const text = result instanceof JsonText ? result.text : JSON.stringify(result ?? null)
  return `{"jsonrpc":"2.0","id":${idText},"result":${text}}`
}

/** Joins the answers to a batch. */
function listOf(answers: readonly Answer[]): Answer {
  if (answers.every((one) => typeof one === 'string')) return `[${answers.join(',')}]`
  const pieces = answers.flatMap((one, at) => [
    Buffer.from(at === 0 ? '[' : ','),
    ...(typeof one === 'string' ? [Buffer.from(one, 'utf8')] : one.pieces),
  ])
  return new ByteList([...pieces, Buffer.from(']')])
}

/** Whether a value can be sent back as an id. Numbers such as 1e999 cannot. */
const isId = (value: unknown): value is RequestId => value === null || typeof value === 'string' || Number.isFinite(value)

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

/** Bytes of a body that cost one compute unit, in addition to its calls. */
const bytesPerUnit = 65_536

/** Cost classes after which a batch yields to the event loop before its next call. */
const heavy: ReadonlySet<CostClass> = new Set(['block-read', 'range-read', 'execution', 'trace'])

/** The limit that an error reports. */
function limitOf({ code, data }: RpcError): 'rate' | 'queue' | 'time' | 'bytes' | undefined {
  if (code === overRateLimitCode) return 'rate'
  const limit = isJsonObject(data) ? data['limit'] : undefined
  return limit === 'queue' || limit === 'time' || limit === 'bytes' ? limit : undefined
}

/** One running call. A class: a getter in an object literal costs too much per request. */
class RunningCall implements CancellationToken {
  readonly #caller: Caller
  isLate = false

  constructor(caller: Caller) {
    this.#caller = caller
  }

  get isCancelled(): boolean {
    return this.isLate || this.#caller.isGone
  }
}

export function createDispatcher<Context, By extends Caller = Caller>(
  deps: DispatchDeps<Context, By>,
  limits: DispatchLimits,
): Dispatcher<By> {
  const { registry, contextOf, log, clock, metrics, gates = createGates() } = deps

  /** Rejects when the time-out of the cost class expires, including the time spent waiting for a turn. */
  async function inTime(call: RunningCall, cost: CostClass, work: () => Promise<Result>): Promise<Result> {
    const { timeoutMs } = costClasses[cost]
    const late = Promise.withResolvers<never>()
    using _timer = clock.after(timeoutMs, () => {
      call.isLate = true
      late.reject(timedOut(timeoutMs))
    })
    return await Promise.race([work(), late.promise])
  }

  /** Waits for a call that entered its gate, and leaves the gate when the call ends, even after its time-out. */
  async function finish(result: Promise<Result>, cost: CostClass): Promise<Result> {
    try {
      return await result
    } finally {
      gates[cost].leave()
    }
  }

  /** Runs a method, without a promise when it is synchronous: such calls run many times per millisecond. */
  function runNow(method: Method<Context>, params: readonly unknown[], caller: By, call: RunningCall): Result | Promise<Result> {
    let result: Result | Promise<Result> | undefined
    try {
      result = method.call(contextOf(call, caller), params)
    } finally {
      if (!(result instanceof Promise)) gates[method.cost].leave()
    }
    return result instanceof Promise ? finish(result, method.cost) : result
  }

  function run(method: Method<Context>, params: readonly unknown[], caller: By): Result | Promise<Result> {
    const { cost } = method
    const call = new RunningCall(caller)
    gates[cost].checkUnread()
    if (!gates[cost].enter()) {
      return inTime(call, cost, async () => {
        await gates[cost].wait()
        if (!call.isCancelled) return await runNow(method, params, caller, call)
        gates[cost].leave()
        throw timedOut()
      })
    }
    const result = runNow(method, params, caller, call)
    return result instanceof Promise ? inTime(call, cost, () => result) : result
  }

  /** Returns caller errors and temporary outages to the client. Any other error is logged and becomes −32603. */
  function errorOf(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof Fault && error.severity === 'retry') return unavailable(error)
    log.error('rpc method failed', { method, error })
    return internalError()
  }

  /** @throws RpcError −32016 when the bucket is empty */
  function pay({ bucket }: By, units: number): void {
    const refusal = bucket?.take(units)
    if (refusal !== undefined) throw overRateLimit(refusal)
  }

  function refusedText(id: RequestId, error: RpcError, { tally }: By): string {
    const limit = limitOf(error)
    if (limit !== undefined) metrics?.limitHits.inc({ limit })
    if (error.code === overRateLimitCode && isJsonObject(error.data)) {
      tally.overRate++
      tally.retryAfterMs = Math.max(tally.retryAfterMs, Number(error.data['retryAfterMs'] ?? 0))
    } else tally.answered++
    return errorText(id, error)
  }

  function answerTo({ id = null, method, params }: Request, caller: By): Answer | Promise<Answer> {
    const failed = (error: unknown): string => refusedText(id, errorOf(error, method), caller)
    const encoded = (result: Result): Answer => {
      const answer = answerWith(id, result)
      if (answer.length > limits.maxResponseBytes) return failed(responseTooBig(limits.maxResponseBytes))
      caller.tally.answered++
      return answer
    }
    try {
      const definition = registry.get(method)
      pay(caller, definition === undefined ? 1 : costClasses[definition.cost].units)
      if (definition === undefined) throw methodNotFound()
      const result = run(definition, params, caller)
      return result instanceof Promise ? result.then(encoded).catch(failed) : encoded(result)
    } catch (error) {
      return failed(error)
    }
  }

  function malformedText(id: RequestId, refused: RpcError, caller: By): string {
    const refusal = caller.bucket?.take(1)
    return refusedText(id, refusal ? overRateLimit(refusal) : refused, caller)
  }

  function answerOne(item: unknown, caller: By): MaybeAnswer | Promise<MaybeAnswer> {
    const request = parseRequest(item)
    const counted = (answer: Answer): MaybeAnswer => {
      if (request.id === undefined) return undefined
      const cost = costOf(item)
      caller.share.add(answer.length, cost && gates[cost])
      return answer
    }
    const answer = 'refused' in request ? malformedText(request.id ?? null, request.refused, caller) : answerTo(request, caller)
    return answer instanceof Promise ? answer.then(counted) : counted(answer)
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

  /** Groups of items that start together: consecutive `submit` calls form one group, in order; any other item is alone. */
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

  async function answerBatch(items: readonly unknown[], caller: By): Promise<MaybeAnswer> {
    if (items.length === 0) return malformedText(null, invalidRequest(), caller)
    if (items.length > limits.maxBatch) return malformedText(null, batchTooLarge(limits.maxBatch), caller)
    let length = 0
    for (const group of groupsOf(items)) {
      if (caller.isGone) return undefined
      const answered = (await Promise.all(group.map((item) => answerOne(item, caller)))).filter((one) => one !== undefined)
      for (const one of answered) caller.share.keep(one)
      length = answered.reduce((sum, one) => sum + one.length, length)
      if (length > limits.maxResponseBytes) {
        caller.share.takeKept()
        return errorText(null, responseTooBig(limits.maxResponseBytes))
      }
      if (group.some(isHeavy)) await nextTurn()
    }
    const answers = caller.share.takeKept()
    return answers.length === 0 ? undefined : listOf(answers)
  }

  return {
    answer(body, caller): MaybeAnswer | Promise<MaybeAnswer> {
      const units = Math.floor(body.length / bytesPerUnit)
      const refusal = units === 0 ? undefined : caller.bucket?.take(units)
      if (refusal !== undefined) return refusedText(null, overRateLimit(refusal), caller)
      const parsed = parseBody(body)
      if ('refused' in parsed) return malformedText(null, parsed.refused, caller)
      const { value } = parsed
      return Array.isArray(value) ? answerBatch(value, caller) : answerOne(value, caller)
    },
  }
}

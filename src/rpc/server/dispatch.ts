import type { Buffer } from 'node:buffer'
import type { Clock } from '#lib/clock'
import { Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { CancellationToken } from '../context.ts'
import {
  internalError,
  methodNotFound,
  overRateLimit,
  overRateLimitCode,
  prunedHistory,
  RpcError,
  responseTooBig,
  timedOut,
  unavailable,
} from '../errors.ts'
import { isJsonObject, type Result } from '../json.ts'
import { createGates, type Gates } from '../limits/gates.ts'
import type { RpcMetrics } from '../metrics.ts'
import { type CostClass, costClasses, type Method, type Registry } from '../registry.ts'
import { type AnswerLimits, answerBatch } from './batch.ts'
import { parseBody } from './body.ts'
import type { Caller } from './caller.ts'
import { type Answer, answerWith, errorText, parseRequest, type Request, type RequestId } from './messages.ts'

export type DispatchDeps<Context, By extends Caller = Caller> = {
  readonly registry: Registry<Context>
  /** Creates the context of one call. */
  readonly contextOf: (cancellation: CancellationToken, caller: By) => Context
  /** shared by the servers of the thread; absent: the server has its own */
  readonly gates?: Gates | undefined
  readonly metrics?: Pick<RpcMetrics, 'limitHits' | 'calls'> | undefined
  readonly log: Log
  readonly clock: Clock
}

/** undefined for notifications only, or when the client is gone */
type MaybeAnswer = Answer | undefined

/** Answers JSON-RPC bodies. */
export type Dispatcher<By extends Caller = Caller> = {
  /** Returns a promise only when a call is asynchronous or has to wait. */
  answer(body: Buffer, caller: By): MaybeAnswer | Promise<MaybeAnswer>
}

/** Bytes of a body that cost one compute unit, in addition to its calls. */
const bytesPerUnit = 65_536

function limitOf({ code, data }: RpcError): 'rate' | 'queue' | 'time' | 'bytes' | 'memory' | undefined {
  if (code === overRateLimitCode) return 'rate'
  const limit = isJsonObject(data) ? data['limit'] : undefined
  return limit === 'queue' || limit === 'time' || limit === 'bytes' || limit === 'memory' ? limit : undefined
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

/** Returns the function that runs a method in its gate and within the time of its cost class. */
function createRunner<Context, By extends Caller>(
  { contextOf, clock }: Pick<DispatchDeps<Context, By>, 'contextOf' | 'clock'>,
  gates: Gates,
): (method: Method<Context>, params: readonly unknown[], caller: By) => Result | Promise<Result> {
  /** Rejects when the time-out of the cost class expires, including the time spent waiting for a turn. */
  async function inTime(call: RunningCall, cost: CostClass, work: () => Promise<Result>): Promise<Result> {
    const { timeoutMs } = costClasses[cost]
    const late = Promise.withResolvers<never>()
    using _timer = clock.after(timeoutMs, () => {
      call.isLate = true
      late.reject(timedOut(timeoutMs))
    })
    using _full = gates[cost].onFull((busy) => {
      call.isLate = true
      late.reject(busy)
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

  return (method, params, caller) => {
    const { cost } = method
    const call = new RunningCall(caller)
    gates[cost].checkMemory()
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
}

export function createDispatcher<Context, By extends Caller = Caller>(
  deps: DispatchDeps<Context, By>,
  limits: AnswerLimits,
): Dispatcher<By> {
  const { registry, log, clock, metrics, gates = createGates() } = deps
  const run = createRunner(deps, gates)

  /** Returns caller errors and temporary outages to the client. Any other error is logged and becomes −32603. */
  function errorOf(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof Fault && error.severity === 'retry') return unavailable(error)
    // trie nodes are kept for a shorter time than states, and are missed only when they are read
    if (isFault(error, 'HISTORY_PRUNED')) return prunedHistory({ what: 'trie nodes', number: Number(error.data['oldest']) })
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
    const begunMs = clock.elapsedMs()
    const definition = registry.get(method)
    const measure = (): void => {
      if (definition) metrics?.calls.observe({ class: definition.cost }, (clock.elapsedMs() - begunMs) / 1_000)
    }
    const failed = (error: unknown): string => {
      measure()
      return refusedText(id, errorOf(error, method), caller)
    }
    const encoded = (result: Result): Answer => {
      const answer = answerWith(id, result)
      if (answer.length > limits.maxResponseBytes) return failed(responseTooBig(limits.maxResponseBytes))
      measure()
      caller.tally.answered++
      return answer
    }
    try {
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

  const batchCalls = { costOf, answerOne, refuse: (error: RpcError, caller: By): string => malformedText(null, error, caller) }

  return {
    answer(body, caller): MaybeAnswer | Promise<MaybeAnswer> {
      const units = Math.floor(body.length / bytesPerUnit)
      const refusal = units === 0 ? undefined : caller.bucket?.take(units)
      if (refusal !== undefined) return refusedText(null, overRateLimit(refusal), caller)
      const parsed = parseBody(body)
      if ('refused' in parsed) return malformedText(null, parsed.refused, caller)
      const { value } = parsed
      return Array.isArray(value) ? answerBatch(value, caller, limits, batchCalls) : answerOne(value, caller)
    },
  }
}

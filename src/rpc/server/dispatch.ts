import type { Buffer } from 'node:buffer'
import type { Clock } from '#lib/clock'
import { Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { CounterCell } from '#lib/metrics'
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
import { type CallMetrics, methodLabel } from '../metrics.ts'
import { type CostClass, costClasses, type Method, type Registry } from '../registry.ts'
import { type AnswerLimits, answerBatch } from './batch.ts'
import { parseBody } from './body.ts'
import type { Caller } from './caller.ts'
import { type Answer, answerWith, errorText, parseRequest, type Request, type RequestId } from './messages.ts'
import type { SlowCalls } from './slowCalls.ts'

export type DispatchDeps<Context, By extends Caller = Caller> = {
  readonly registry: Registry<Context>
  /** Creates the context of one call. */
  readonly contextOf: (cancellation: CancellationToken, caller: By) => Context
  /** shared by the servers of the thread; absent: the server has its own */
  readonly gates?: Gates | undefined
  readonly metrics?: CallMetrics | undefined
  /** absent: slow calls are not reported */
  readonly slow?: SlowCalls | undefined
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

type MethodCounts = { readonly result: CounterCell; readonly error: CounterCell; readonly milliseconds: CounterCell }

/** A method of the registry and its counts; absent: nothing is counted. */
type CountedMethod<Context> = { readonly method: Method<Context>; readonly counts: MethodCounts | undefined }

/** One running call. A class: a getter in an object literal costs too much per request. */
class RunningCall<Context, By extends Caller> implements CancellationToken {
  readonly method: Method<Context>
  readonly counts: MethodCounts | undefined
  readonly params: readonly unknown[]
  readonly caller: By
  readonly begunMs: number
  isLate = false
  /** time until the call had its turn */
  queueMs = 0

  constructor({ method, counts }: CountedMethod<Context>, params: readonly unknown[], caller: By, begunMs: number) {
    this.method = method
    this.counts = counts
    this.params = params
    this.caller = caller
    this.begunMs = begunMs
  }

  get isCancelled(): boolean {
    return this.isLate || this.caller.isGone
  }
}

function countedMethod<Context>(method: Method<Context>, metrics: CallMetrics | undefined): CountedMethod<Context> {
  const label = methodLabel(method.name)
  const counts = metrics && {
    result: metrics.methodCalls.cell({ method: label, outcome: 'result' }),
    error: metrics.methodCalls.cell({ method: label, outcome: 'error' }),
    milliseconds: metrics.methodMilliseconds.cell({ method: label }),
  }
  return { method, counts }
}

/** Returns the function that runs a method in its gate and within the time of its cost class. */
function createRunner<Context, By extends Caller>(
  { contextOf, clock }: Pick<DispatchDeps<Context, By>, 'contextOf' | 'clock'>,
  gates: Gates,
): (call: RunningCall<Context, By>) => Result | Promise<Result> {
  /** Rejects when the time-out of the cost class expires, including the time spent waiting for a turn. */
  async function inTime(call: RunningCall<Context, By>, work: () => Promise<Result>): Promise<Result> {
    const { cost } = call.method
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
  function runNow(call: RunningCall<Context, By>): Result | Promise<Result> {
    const { method, params, caller } = call
    let result: Result | Promise<Result> | undefined
    try {
      result = method.call(contextOf(call, caller), params)
    } finally {
      if (!(result instanceof Promise)) gates[method.cost].leave()
    }
    return result instanceof Promise ? finish(result, method.cost) : result
  }

  return (call) => {
    const { cost } = call.method
    gates[cost].checkMemory()
    gates[cost].checkUnread()
    if (!gates[cost].enter()) {
      const sinceMs = clock.elapsedMs()
      return inTime(call, async () => {
        await gates[cost].wait()
        call.queueMs = clock.elapsedMs() - sinceMs
        if (!call.isCancelled) return await runNow(call)
        gates[cost].leave()
        throw timedOut()
      })
    }
    const result = runNow(call)
    return result instanceof Promise ? inTime(call, () => result) : result
  }
}

export function createDispatcher<Context, By extends Caller = Caller>(
  deps: DispatchDeps<Context, By>,
  limits: AnswerLimits,
): Dispatcher<By> {
  const { registry, log, clock, metrics, slow, gates = createGates() } = deps
  const run = createRunner(deps, gates)
  const countedMethods = new Map([...registry].map(([name, method]) => [name, countedMethod(method, metrics)] as const))

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

  /** Counts an answered call. @param errorCode absent: it has a result */
  function measure(call: RunningCall<Context, By>, answerBytes: number, errorCode?: number): void {
    const { counts, method, params, caller, begunMs, queueMs } = call
    const { name, cost } = method
    const ms = clock.elapsedMs() - begunMs
    metrics?.calls.observe({ class: cost }, ms / 1_000)
    if (counts !== undefined) {
      if (errorCode === undefined) counts.result.add(1)
      else counts.error.add(1)
      counts.milliseconds.add(ms)
    }
    if (slow === undefined || ms < slow.thresholdMs) return
    const address = caller.peer?.remoteAddress
    slow.note({ ...{ method: name, cost, ms, queueMs, answerBytes, params, address }, ...(errorCode !== undefined && { errorCode }) })
  }

  function answerTo({ id = null, method, params }: Request, caller: By): Answer | Promise<Answer> {
    const known = countedMethods.get(method)
    const call = known && new RunningCall(known, params, caller, clock.elapsedMs())
    const failed = (error: unknown): string => {
      const refusal = errorOf(error, method)
      const answer = refusedText(id, refusal, caller)
      if (call) measure(call, answer.length, refusal.code)
      return answer
    }
    const encoded = (result: Result): Answer => {
      const answer = answerWith(id, result)
      if (answer.length > limits.maxResponseBytes) return failed(responseTooBig(limits.maxResponseBytes))
      if (call) measure(call, answer.length)
      caller.tally.answered++
      return answer
    }
    try {
      pay(caller, call === undefined ? 1 : costClasses[call.method.cost].units)
      if (call === undefined) throw methodNotFound()
      const result = run(call)
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

import type { BlockId } from '#types/blockRef'
import type { TransactionLocation } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { CallMessage, CallOverrides } from '../../callPorts.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, invalidParams, unsupported } from '../../errors.ts'
import type { Json } from '../../json.ts'
import type { TextCodec } from '../../registry.ts'
import type { BlockTracing, CallTracing, SlicedWork, TraceOutcome, TraceRequest } from '../../tracePorts.ts'
import { prunedStateNow } from '../eth/atBlock.ts'
import { outOfTime, outputOf } from '../eth/calls/callErrors.ts'
import { inTurns, whenReady, yieldTurn } from '../turns.ts'

/** Result codec of a list whose items are JSON text. */
export function textItems(doc: string): TextCodec<readonly string[] | undefined> {
  return { doc, schema: { type: ['array', 'null'] }, text: (items) => (items === undefined ? 'null' : `[${items.join(',')}]`) }
}

/**
 * Result of a tracer.
 * @param message present for a call
 * @throws RpcError with the reason when there is no result
 */
export function tracedResult(context: Pick<EthContext, 'chain'>, outcome: TraceOutcome | 'pruned', message?: CallMessage): Json {
  if (outcome === 'pruned') throw prunedStateNow(context)
  switch (outcome.kind) {
    case 'traced':
      return outcome.result
    case 'unsupported':
      throw unsupported(outcome.reason)
    case 'bad-request':
      throw invalidParams(outcome.reason)
    case 'refused':
      throw invalidInput(outcome.reason)
    case 'timeout':
      throw outOfTime(outcome.timeoutMs)
    case 'not-run':
      if (message !== undefined) outputOf(outcome.outcome, message)
      throw invalidInput('the call cannot run')
  }
}

/** Location of a transaction of the canonical chain. */
export function findTransaction(context: EthContext, of: Hash): TransactionLocation | undefined {
  using view = context.chain.view()
  return view.transaction(of)
}

/** Tracing of a known block. @throws RpcError −32000 for the genesis block, 4444 when the block is pruned */
export function tracingOf(context: EthContext, block: BlockId): BlockTracing {
  if (block.number === 0) throw invalidInput('genesis is not traceable')
  const tracing = context.tracing.known(block.hash)
  if (tracing === undefined) throw prunedStateNow(context)
  return tracing
}

/** Traces a transaction and converts the result; synchronously when the state before it is ready. */
export function traceAt<T>(
  context: EthContext,
  { block, index }: TransactionLocation,
  request: TraceRequest,
  convert: (result: Json, hash: Hash | undefined) => T,
): T | Promise<T> {
  const tracing = tracingOf(context, block)
  const trace = (): T => convert(tracedResult(context, tracing.trace(index, request, context.executor.timer())), tracing.hashes[index])
  return whenReady(context.cancellation, () => tracing.prepare(index), trace)
}

/** Traces one call of a sequence. */
export function traceOfCall(
  context: EthContext,
  calls: CallTracing,
  message: CallMessage,
  request: TraceRequest,
  overrides: CallOverrides = {},
): Json {
  return tracedResult(context, calls.trace(message, request, context.executor.timer(), overrides), message)
}

/** Bounds the traces of one request, and yields to the event loop after each. */
export class TraceBound {
  readonly #context: EthContext
  readonly #maxLength: number
  #length = 0

  constructor(context: EthContext, maxLength: number = context.limits.traceBytes) {
    this.#context = context
    this.#maxLength = maxLength
  }

  /** Counts a trace, in characters. @throws RpcError when the traces are too large */
  async count(length: number): Promise<void> {
    this.#length += length
    if (this.#length > this.#maxLength) throw invalidInput(`the traces are larger than ${this.#maxLength} bytes`)
    await yieldTurn(this.#context.cancellation)
  }
}

/**
 * Traces all transactions of a block, one per turn of the event loop. Each trace is JSON text.
 * @param jsonOf JSON of one trace; undefined: leave it out
 * @throws RpcError when the traces exceed `maxLength` characters
 */
export async function tracesOf(
  context: EthContext,
  tracing: BlockTracing,
  request: TraceRequest,
  jsonOf: (index: number, result: Json) => string | undefined,
  maxLength?: number,
): Promise<readonly string[]> {
  const traces: string[] = []
  const bound = new TraceBound(context, maxLength)
  for (let index = 0; index < tracing.hashes.length; index++) {
    await inTurns(context.cancellation, () => tracing.prepare(index))
    const trace = jsonOf(index, tracedResult(context, tracing.trace(index, request, context.executor.timer())))
    if (trace !== undefined) traces.push(trace)
    await bound.count(trace?.length ?? 0)
  }
  return traces
}

/** Finishes work in slices. @throws RpcError 4444 when the state it starts from is not retained */
export async function finished<T>(context: EthContext, work: SlicedWork<T>): Promise<T> {
  using run = work
  await inTurns(context.cancellation, () => run.work())
  if (run.outcome === undefined) throw prunedStateNow(context)
  return run.outcome
}

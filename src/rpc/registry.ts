import type { ByteList } from './byteList.ts'
import { invalidParams, type RpcError, unreadableParams } from './errors.ts'
import { rpcFault } from './faults.ts'
import { type Json, JsonText, type Result } from './json.ts'
import { columnOf, ParamError } from './paramError.ts'
import type { JsonSchema } from './schemas.ts'

/** How an untrusted JSON value becomes a parameter. */
export type ParamCodec<T> = {
  /** what callers write, for the reference */
  readonly doc: string
  /** the same for programs; without one anything may stand there */
  readonly schema?: JsonSchema
  /** Throws ParamError when the value is not one. */
  parse(value: unknown): T
}

/** How a result becomes JSON. */
export type ResultCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; encode(value: T): Json }

/** As `ResultCodec`, of a result that is written as text at once. */
export type TextCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; text(value: T): string }

/** As `ResultCodec`, of a large result whose parts are kept as bytes. */
export type BytesCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; bytes(value: T): ByteList }

type AnyCodec<T> = ResultCodec<T> | TextCodec<T> | BytesCodec<T>

/**
 * How dear a call is: limits, time-out and metric label follow from it. `units`: compute units that a call takes out of the bucket of whoever
 * makes it; `maxWaiting`: calls that wait for their turn; `maxUnreadBytes`: beyond so much that clients have not read of large answers no
 * further call begins: the largest answer there may be, and less than what all clients of a server may leave unread.
 */
export const costClasses = {
  /** answered from memory */
  instant: { timeoutMs: 2_000, maxRunning: 256, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 1 },
  /** a bounded number of point reads */
  'point-read': { timeoutMs: 5_000, maxRunning: 128, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 2 },
  /** a whole block with its receipts */
  'block-read': { timeoutMs: 10_000, maxRunning: 32, maxWaiting: 1_000, maxUnreadBytes: 160_000_000, units: 10 },
  /** as many blocks as the caller asks for, up to a bound */
  'range-read': { timeoutMs: 30_000, maxRunning: 8, maxWaiting: 500, maxUnreadBytes: 160_000_000, units: 50 },
  /** runs code */
  execution: { timeoutMs: 10_000, maxRunning: 16, maxWaiting: 500, maxUnreadBytes: 160_000_000, units: 20 },
  /** runs a block again and tells of every step, or proves what it read */
  trace: { timeoutMs: 60_000, maxRunning: 4, maxWaiting: 100, maxUnreadBytes: 160_000_000, units: 100 },
  /** hands a transaction over; many at once, for who checks them takes them together */
  submit: { timeoutMs: 15_000, maxRunning: 2_048, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 10 },
  /** moves the chain; one after the other, so that a call also waits for those before it */
  engine: { timeoutMs: 60_000, maxRunning: 64, maxWaiting: 1_000, maxUnreadBytes: 320_000_000, units: 0 },
} as const
export type CostClass = keyof typeof costClasses

export type Param<T> = {
  readonly name: string
  readonly codec: ParamCodec<T>
  /** present: the parameter may be left out (or null), and this stands for it */
  readonly fallback?: { readonly value: T; readonly doc: string }
}

export function param<T>(name: string, codec: ParamCodec<T>): Param<T> {
  return { name, codec }
}

export function optionalParam<T>(name: string, codec: ParamCodec<T>, value: T, doc: string): Param<T> {
  return { name, codec, fallback: { value, doc } }
}

type Values<P extends readonly Param<unknown>[]> = { [K in keyof P]: P[K] extends Param<infer T> ? T : never }

/** A request and its answer, as in the reference; the answer is left out where it would fill the page. */
export type Example = { readonly params: readonly Json[]; readonly result?: Json }

export type MethodSpec<Context, P extends readonly Param<unknown>[], R> = {
  readonly name: string
  readonly doc: string
  readonly params: P
  readonly result: AnyCodec<R>
  readonly cost: CostClass
  readonly example: Example
  readonly run: (context: Context, ...params: Values<P>) => R | Promise<R>
}

/** A method as the server, the reference and the tests see it. */
export type Method<Context> = {
  readonly name: string
  readonly doc: string
  readonly params: readonly Param<unknown>[]
  readonly result: { readonly doc: string; readonly schema?: JsonSchema }
  readonly cost: CostClass
  readonly example: Example
  /** Parses, runs, encodes. Throws RpcError for what the caller did wrong. Only a method that waits for something gives a promise. */
  call(context: Context, params: readonly unknown[]): Result | Promise<Result>
}

function parseParam(definition: Param<unknown>, given: readonly unknown[], index: number): unknown {
  const value = given[index]
  if (definition.fallback !== undefined && (value === undefined || value === null)) return definition.fallback.value
  if (index >= given.length) throw unreadableParams('No more params')
  try {
    return definition.codec.parse(value)
  } catch (error) {
    throw error instanceof ParamError ? refusalOf(error, value) : error
  }
}

function refusalOf(error: ParamError, parameter: unknown): RpcError {
  if (error.kind === 'senseless') return invalidParams(error.message)
  const column = columnOf(parameter, error)
  return unreadableParams(column === undefined ? error.message : `${error.message} at line 1 column ${column}`)
}

function encode<R>(codec: AnyCodec<R>, value: R): Result {
  if ('bytes' in codec) return codec.bytes(value)
  return 'text' in codec ? new JsonText(codec.text(value)) : codec.encode(value)
}

/** Makes the `defineMethod` of one namespace, whose methods all get the same context. */
export function methodsOf<Context>(): <const P extends readonly Param<unknown>[], R>(spec: MethodSpec<Context, P, R>) => Method<Context> {
  return (spec) => ({
    ...spec,
    call(context, given): Result | Promise<Result> {
      const values = spec.params.map((definition, index) => parseParam(definition, given, index)) as Values<typeof spec.params>
      const result = spec.run(context, ...values)
      return result instanceof Promise ? result.then((value) => encode(spec.result, value)) : encode(spec.result, result)
    },
  })
}

/** The methods of one server by name. */
export type Registry<Context> = ReadonlyMap<string, Method<Context>>

/** @throws Fault DUPLICATE_METHOD */
export function createRegistry<Context>(...groups: readonly (readonly Method<Context>[])[]): Registry<Context> {
  const registry = new Map<string, Method<Context>>()
  for (const method of groups.flat()) {
    if (registry.has(method.name)) throw rpcFault('DUPLICATE_METHOD', { method: method.name })
    registry.set(method.name, method)
  }
  return registry
}

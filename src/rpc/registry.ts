import { columnOf, ParamError } from './codecs/paramError.ts'
import { invalidParams, type RpcError, unreadableParams } from './errors.ts'
import { rpcFault } from './faults.ts'
import { type Json, JsonText, type Result } from './json.ts'
import type { JsonSchema } from './reference/schemas.ts'
import type { ByteList } from './results/byteList.ts'

/** Parser of an untrusted JSON value as a parameter. */
export type ParamCodec<T> = {
  /** accepted format, for the reference */
  readonly doc: string
  /** the same as a JSON schema; absent: any value */
  readonly schema?: JsonSchema
  /** @throws ParamError when the value is malformed */
  parse(value: unknown): T
}

/** Encoder of a result as JSON. */
export type ResultCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; encode(value: T): Json }

/** Like `ResultCodec`, for a result that is written as JSON text directly. */
export type TextCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; text(value: T): string }

/** Like `ResultCodec`, for a large result with parts kept as bytes. */
export type BytesCodec<T> = { readonly doc: string; readonly schema?: JsonSchema; bytes(value: T): ByteList }

type AnyCodec<T> = ResultCodec<T> | TextCodec<T> | BytesCodec<T>

/**
 * Cost class of a method: it sets limits, time-out and metric label. `units`: compute units taken from the client's rate-limit bucket;
 * `maxWaiting`: calls that wait for their turn; `maxUnreadBytes`: unread bytes of large answers beyond which no further call starts. That bound
 * is at least the largest possible answer, and below the bound of a whole server.
 */
export const costClasses = {
  /** answered from memory */
  instant: { timeoutMs: 2_000, maxRunning: 256, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 1 },
  /** a bounded number of point reads */
  'point-read': { timeoutMs: 5_000, maxRunning: 128, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 2 },
  /** a whole block with its receipts */
  'block-read': { timeoutMs: 10_000, maxRunning: 32, maxWaiting: 1_000, maxUnreadBytes: 160_000_000, units: 10 },
  /** as many blocks as the client requests, up to a bound */
  'range-read': { timeoutMs: 30_000, maxRunning: 8, maxWaiting: 500, maxUnreadBytes: 160_000_000, units: 50 },
  /** runs EVM code */
  execution: { timeoutMs: 10_000, maxRunning: 16, maxWaiting: 500, maxUnreadBytes: 160_000_000, units: 20 },
  /** re-executes a block with a tracer, or proves the state it read */
  trace: { timeoutMs: 60_000, maxRunning: 4, maxWaiting: 100, maxUnreadBytes: 160_000_000, units: 100 },
  /** submits a transaction; many run at once, because they are validated in groups */
  submit: { timeoutMs: 15_000, maxRunning: 2_048, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 10 },
  /** submits a transaction and waits for its receipt; such waits take no place in `submit` */
  'submit-sync': { timeoutMs: 15_000, maxRunning: 2_048, maxWaiting: 1_000, maxUnreadBytes: 64_000_000, units: 10 },
  /** moves the chain; calls run one after the other, so a call also waits for those before it */
  engine: { timeoutMs: 60_000, maxRunning: 64, maxWaiting: 1_000, maxUnreadBytes: 320_000_000, units: 0 },
} as const
export type CostClass = keyof typeof costClasses

/** Whether calls of a class submit transactions. */
export const isSubmission = (cost: CostClass | undefined): boolean => cost === 'submit' || cost === 'submit-sync'

export type Param<T> = {
  readonly name: string
  readonly codec: ParamCodec<T>
  /** present: the default for a missing or null parameter */
  readonly fallback?: { readonly value: T; readonly doc: string }
}

export function param<T>(name: string, codec: ParamCodec<T>): Param<T> {
  return { name, codec }
}

export function optionalParam<T>(name: string, codec: ParamCodec<T>, value: T, doc: string): Param<T> {
  return { name, codec, fallback: { value, doc } }
}

/** Values of parameters. */
export type Values<P extends readonly Param<unknown>[]> = { [K in keyof P]: P[K] extends Param<infer T> ? T : never }

/** A request and its result, for the reference; a result that is too long is left out. */
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

/** A method as the server, the reference and the tests use it. */
export type Method<Context> = {
  readonly name: string
  readonly doc: string
  readonly params: readonly Param<unknown>[]
  readonly result: { readonly doc: string; readonly schema?: JsonSchema }
  readonly cost: CostClass
  readonly example: Example
  /** Parses, runs, encodes. Throws RpcError for errors of the caller. Returns a promise only when the method is asynchronous. */
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

/** Creates the `defineMethod` of one namespace, whose methods share a context type. */
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

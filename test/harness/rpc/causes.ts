import type { Json, JsonObject } from './json.ts'

/** Client family of a recording. `reth` stands for base-reth-node and base-consensus, `op-geth` for op-geth and op-node. */
export type Dialect = 'reth' | 'op-geth'

export type RpcErrorJson = { readonly code: number; readonly message: string; readonly data?: Json }
export type Outcome = { readonly result: Json } | { readonly error: RpcErrorJson }
/** Recorded outcome and the outcome of this node, for the same request. */
export type Pair = { readonly theirs: Outcome; readonly ours: Outcome }

/** Request of a pair, with the other outcomes of the same recording. */
export type Asked = {
  readonly method: string
  readonly params: readonly Json[]
  /** number of the latest block */
  readonly head: number
  /** Returns the recorded result of another request; undefined when it was not recorded. */
  readonly recorded: (method: string, params: readonly Json[]) => Json | undefined
}

/** Known difference between a recorded client and this node. `right` removes it from a pair; it takes no value from this node's outcome. */
export type Cause = {
  readonly name: string
  readonly methods: RegExp
  readonly right: (pair: Pair, asked: Asked) => Pair
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

/** Changes the objects of a list; changes nothing else. */
export const mapItems = (value: Json | undefined, change: (item: JsonObject) => JsonObject): Json =>
  Array.isArray(value) ? value.map((item) => (isObject(item) ? change(item) : item)) : (value ?? null)

type Change = (result: Json, asked: Asked) => Json

const changed = (outcome: Outcome, change: Change, asked: Asked): Outcome =>
  'result' in outcome ? { result: change(outcome.result, asked) } : outcome

/** Cause that is removed from the recorded result. */
export const inTheirs = (name: string, methods: RegExp, change: Change): Cause => ({
  ...{ name, methods },
  right: ({ theirs, ours }, asked) => ({ theirs: changed(theirs, change, asked), ours }),
})

/** Cause that is removed from this node's result: a member that the recorded client lacks. */
export const inOurs = (name: string, methods: RegExp, change: Change): Cause => ({
  ...{ name, methods },
  right: ({ theirs, ours }, asked) => ({ theirs, ours: changed(ours, change, asked) }),
})

/** Cause that is removed from both results. */
export const inBoth = (name: string, methods: RegExp, change: Change): Cause => ({
  ...{ name, methods },
  right: ({ theirs, ours }, asked) => ({ theirs: changed(theirs, change, asked), ours: changed(ours, change, asked) }),
})

/** Lets a change of objects leave other results as they are. */
export const ofObject =
  (change: (result: JsonObject, asked: Asked) => Json): Change =>
  (result, asked) =>
    isObject(result) ? change(result, asked) : result

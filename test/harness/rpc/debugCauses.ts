import type { TraceRequest } from '#evm/tracing'
import { fromHex, type Hex } from '#lib/hex'
import { decodeHeader, hashHeader } from '#types/header'
import { isFailedDeposit, type TracePair, traceCauses } from '../evm/traceDialects.ts'
import { type Asked, type Cause, type Dialect, inOurs, inTheirs, isObject, ofObject, type Pair, without } from './causes.ts'
import type { Json, JsonObject } from './json.ts'

const traces = /^debug_trace/
type Traced = { readonly txHash: string; readonly result: Json }

/** Applies a change to a trace, or to each trace of a block. `hash` is of the traced transaction; undefined for a call. */
function ofTraces(
  { theirs, ours }: Pair,
  { method, params }: Asked,
  change: (pair: TracePair, hash: string | undefined) => TracePair,
): Pair {
  if (!('result' in theirs && 'result' in ours)) return { theirs, ours }
  if (method !== 'debug_traceBlockByNumber') {
    const made = change({ theirs: theirs.result, ours: ours.result }, method === 'debug_traceTransaction' ? String(params[0]) : undefined)
    return { theirs: { result: made.theirs }, ours: { result: made.ours } }
  }
  const [listed, found] = [theirs.result, ours.result] as unknown as [readonly Traced[], readonly Traced[]]
  const made = listed.map((each, i) => change({ theirs: each.result, ours: found[i]?.result ?? null }, each.txHash))
  return {
    theirs: { result: listed.map((each, i) => ({ ...each, result: made[i]?.theirs ?? null })) },
    ours: { result: found.map((each, i) => ({ ...each, result: made[i]?.ours ?? null })) },
  }
}

const requestOf = ({ method, params }: Asked): TraceRequest => (params[method === 'debug_traceCall' ? 2 : 1] ?? {}) as TraceRequest

const traceCausesOf = (dialect: Dialect): readonly Cause[] =>
  traceCauses
    .filter((cause) => cause.dialect === dialect)
    .map(({ name, applies, right }) => ({
      ...{ name, methods: traces },
      right: (pair, asked) => (applies(requestOf(asked)) ? ofTraces(pair, asked, right) : pair),
    }))

/** Frame of a deposit that failed before it ran: the members of the recorded transaction and receipt. */
function failedDepositFrame(hash: string, { recorded }: Asked): JsonObject | undefined {
  const [transaction, receipt] = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'].map((method) => recorded(method, [hash]))
  if (!isObject(transaction) || !isObject(receipt)) return undefined
  const { from, to, gas, input, value } = transaction
  return {
    ...{ from, to, gas, input, value },
    gasUsed: receipt['gasUsed'],
    type: 'CALL',
    error: 'failed deposit transaction',
  } as JsonObject
}

const madeUpFrame = (dialect: Dialect): Cause => ({
  name: 'the frame of a failed deposit is from the zero address',
  methods: traces,
  right: (pair, asked) =>
    ofTraces(pair, asked, ({ theirs, ours }, hash) => ({
      theirs: isFailedDeposit(dialect, theirs) && hash !== undefined ? (failedDepositFrame(hash, asked) ?? theirs) : theirs,
      ours,
    })),
})

const witness = /^debug_executionWitness$/
const lists = ['state', 'codes', 'keys'] as const

/** Number of items that this node's lists may have beyond the recorded ones: absence of the caller of system calls, called precompiles. */
const maxExtra = 4

/** Removes a few items that only this node's witness has. */
function withoutExtra({ theirs, ours }: Pair): Pair {
  if (!('result' in theirs && 'result' in ours && isObject(theirs.result) && isObject(ours.result))) return { theirs, ours }
  const [listed, found] = [theirs.result, ours.result]
  const kept = lists.flatMap((part) => {
    const [known, all] = [listed[part], found[part]]
    if (!Array.isArray(known) || !Array.isArray(all)) return []
    const common = all.filter((item) => known.includes(item))
    return all.length - common.length <= maxExtra ? [[part, common]] : []
  })
  return { theirs, ours: { result: { ...found, ...Object.fromEntries(kept) } } }
}

const mapLists = (of: JsonObject, change: (list: Json) => Json): JsonObject => ({
  ...of,
  ...Object.fromEntries(lists.flatMap((part) => (of[part] === undefined ? [] : [[part, change(of[part])]]))),
})
const sorted = ofObject((of) => mapLists(of, (list) => (Array.isArray(list) ? [...new Set(list)].sort() : list)))
const headerHash = (header: Json): Json => (isObject(header) ? (header['hash'] ?? null) : hashHeader(decodeHeader(fromHex(header as Hex))))
const hashedHeaders = ofObject((of) => ({ ...of, headers: (of['headers'] as readonly Json[]).map(headerHash) }))

const asSets: Cause = {
  name: 'the parts of a witness have another order, and duplicates',
  methods: witness,
  right: ({ theirs, ours }, asked) => ({
    theirs: 'result' in theirs ? { result: sorted(theirs.result, asked) } : theirs,
    ours: 'result' in ours ? { result: sorted(ours.result, asked) } : ours,
  }),
}
const fewerProofs: Cause = { name: 'the witness has no absent system caller and no precompiles', methods: witness, right: withoutExtra }

/** go-ethereum's client and the conformance suite give different errors for a transaction that does not exist; this node follows the suite. */
const unknownTransaction = (pattern: RegExp): Cause => ({
  name: 'an unknown transaction has another error than in rpc-compat',
  methods: /^debug_traceTransaction$/,
  right: ({ theirs, ours }) => ({
    theirs:
      'error' in theirs && pattern.test(theirs.error.message) ? { error: { code: -32000, message: 'transaction not found' } } : theirs,
    ours,
  }),
})

const chainConfig = /^debug_chainConfig$/

export const opGethDebugCauses: readonly Cause[] = [
  madeUpFrame('op-geth'),
  ...traceCausesOf('op-geth'),
  unknownTransaction(/^genesis is not traceable$/),
  inTheirs(
    'state and codes of a witness are maps by hash',
    witness,
    ofObject((of) => mapLists(of, (list) => (isObject(list) ? Object.values(list) : list))),
  ),
  inOurs(
    'a witness has no keys',
    witness,
    ofObject((of) => without(of, 'keys')),
  ),
  {
    name: 'the headers of a witness are objects',
    methods: witness,
    right: ({ theirs, ours }, asked) => ({
      theirs: 'result' in theirs ? { result: hashedHeaders(theirs.result, asked) } : theirs,
      ours: 'result' in ours ? { result: hashedHeaders(ours.result, asked) } : ours,
    }),
  },
  asSets,
  fewerProofs,
  inTheirs(
    'the chain config has depositContractAddress',
    chainConfig,
    ofObject((of) => without(of, 'depositContractAddress')),
  ),
  inOurs(
    'the chain config has no deltaTime, which op-node has',
    chainConfig,
    ofObject((of) => without(of, 'deltaTime')),
  ),
  inOurs(
    'the chain config has no daoForkSupport',
    chainConfig,
    ofObject((of) => without(of, 'daoForkSupport')),
  ),
]

export const rethDebugCauses: readonly Cause[] = [
  madeUpFrame('reth'),
  ...traceCausesOf('reth'),
  unknownTransaction(/^transaction not found$/),
  asSets,
  fewerProofs,
]

import { baseFeeVault, l1FeeVault, operatorFeeVault, sequencerFeeVault } from '#chainspec/addresses'
import type { TraceRequest } from '#evm/tracing'
import type { Dialect } from '../rpc/causes.ts'
import type { Json } from '../rpc/json.ts'

/**
 * Differences between the traces of the two recorded clients. This project follows the newer client (`reth`), except where it contradicts the chain.
 * Each function below removes one kind of difference from a pair of traces.
 */

type Fields = Readonly<Record<string, Json>>
export type TracePair = { readonly theirs: Json; readonly ours: Json }

const fields = (value: Json | undefined): Fields => (value ?? {}) as Fields
const vaults: readonly string[] = [baseFeeVault, l1FeeVault, operatorFeeVault]

const without = (value: Fields, isGone: (key: string, value: Json) => boolean): Fields =>
  Object.fromEntries(Object.entries(value).filter(([key, member]) => !isGone(key, member)))

/** True for an account without balance and code, whose slots are zero. */
const isEmptyAccount = (account: Json): boolean =>
  /^\{"balance":"0x0"(,"storage":\{("0x[0-9a-f]{64}":"0x0{64}",?)*\})?\}$/.test(JSON.stringify(account))

function mapFrames(frame: Fields, change: (frame: Fields) => Fields): Fields {
  const { calls } = frame
  const own = change(frame)
  return calls === undefined ? own : { ...own, calls: (calls as readonly Fields[]).map((call) => mapFrames(call, change)) }
}

function unnumberedLogs({ theirs, ours }: TracePair): TracePair {
  const unnumbered = (frame: Fields): Fields =>
    frame['logs'] === undefined
      ? frame
      : { ...frame, logs: (frame['logs'] as readonly Fields[]).map((log) => without(log, (key) => key === 'index')) }
  return { theirs, ours: mapFrames(fields(ours), unnumbered) }
}

function failedPrecompiles({ theirs, ours }: TracePair): TracePair {
  const failed = (frame: Fields): Fields => (frame['error'] === 'invalid input length' ? { ...frame, error: 'precompiled failed' } : frame)
  return { theirs: mapFrames(fields(theirs), failed), ours }
}

/**
 * op-geth lists the accounts that opcodes name, the sender, the receiver and the beneficiary, even if no fee is paid. It lists neither the fee vaults
 * nor accounts that did not exist.
 */
function prestateOfOpGeth({ theirs, ours }: TracePair, isDiff: boolean): TracePair {
  const listed = fields(theirs)
  const found = fields(ours)
  const fewer = (pre: Fields, known: Fields): Fields =>
    without(pre, (address, account) => known[address] === undefined && (vaults.includes(address) || isEmptyAccount(account)))
  // receiver of a deposit that failed before it ran
  const hasRun = Object.keys(found).length > 1
  const isUnpaid = (address: string): boolean => found[address] === undefined && (address === sequencerFeeVault || !hasRun)
  if (!isDiff) return { theirs: without(listed, isUnpaid), ours: fewer(found, listed) }
  const [pre, post] = [fields(listed['pre']), fields(listed['post'])]
  const isUnseen = (address: string): boolean => vaults.includes(address) && post[address] === undefined
  return { theirs, ours: { pre: fewer(fields(found['pre']), pre), post: without(fields(found['post']), isUnseen) } }
}

const bare = (word: string): string => word.replace(/^0x/, '')

/** Step in the format of both clients: words of memory and storage without the 0x of the execution-apis (rpc-compat). */
function bareWords(step: Fields): Fields {
  const { memory, storage } = step
  const slots = Object.entries(fields(storage)).map(([slot, value]) => [bare(slot), bare(String(value))])
  return {
    ...step,
    ...(memory !== undefined && { memory: (memory as readonly string[]).map(bare) }),
    ...(storage !== undefined && { storage: Object.fromEntries(slots) }),
  }
}

function mapSteps(trace: Json, change: (step: Fields) => Fields): Fields {
  const { structLogs, ...rest } = fields(trace)
  return { ...rest, structLogs: (structLogs as readonly Fields[]).map(change) }
}

const bareSteps = ({ theirs, ours }: TracePair): TracePair => ({ theirs, ours: mapSteps(ours, bareWords) })

function withoutEmptyReturnData({ theirs, ours }: TracePair): TracePair {
  return { theirs, ours: mapSteps(ours, (step) => without(step, (key, value) => key === 'returnData' && value === '0x')) }
}

function bareReturnValue({ theirs, ours }: TracePair): TracePair {
  const { returnValue, failed } = fields(ours)
  return { theirs, ours: { ...fields(ours), returnValue: failed === true ? '' : bare(String(returnValue)) } }
}

/** The newer client lists the operator fee vault before Isthmus, although no fee is paid to it. */
function prestateOfReth({ theirs, ours }: TracePair): TracePair {
  const isUnpaid = (address: string, account: Json): boolean =>
    address === operatorFeeVault && fields(ours)[address] === undefined && fields(account)['balance'] === '0x0'
  return { theirs: without(fields(theirs), isUnpaid), ours }
}

/** The newer client's return data is always empty, even if its own RETURNDATASIZE at the same step is not zero. */
function unreadReturnData({ theirs, ours }: TracePair): TracePair {
  const unread = (step: Fields): Fields => without(step, (key) => key === 'returnData')
  return { theirs: mapSteps(theirs, unread), ours: mapSteps(ours, unread) }
}

type TraceCause = {
  readonly name: string
  readonly dialect: Dialect
  readonly applies: (request: TraceRequest) => boolean
  readonly right: (pair: TracePair) => TracePair
}

const isDiff = ({ tracerConfig }: TraceRequest): boolean => fields(tracerConfig as Json | undefined)['diffMode'] === true
const isPrestate = (diff: boolean) => (request: TraceRequest) => request.tracer === 'prestateTracer' && isDiff(request) === diff
const isSteps = ({ tracer }: TraceRequest): boolean => tracer === undefined
const isCalls = ({ tracer }: TraceRequest): boolean => tracer === 'callTracer'

/** Known differences between the traces of a recorded client and those of this project. */
export const traceCauses: readonly TraceCause[] = [
  { name: 'a log of a trace has no index', dialect: 'op-geth', applies: isCalls, right: unnumberedLogs },
  { name: 'each failure of a precompile has its own text', dialect: 'op-geth', applies: isCalls, right: failedPrecompiles },
  {
    name: 'prestate has unpaid accounts and no absent ones',
    dialect: 'op-geth',
    applies: isPrestate(false),
    right: (pair) => prestateOfOpGeth(pair, false),
  },
  { name: 'prestate has no absent accounts', dialect: 'op-geth', applies: isPrestate(true), right: (pair) => prestateOfOpGeth(pair, true) },
  { name: 'words of steps have no 0x', dialect: 'op-geth', applies: isSteps, right: bareSteps },
  { name: 'empty returnData of a step is omitted', dialect: 'op-geth', applies: isSteps, right: withoutEmptyReturnData },
  { name: 'returnValue has no 0x and is empty after a revert', dialect: 'op-geth', applies: isSteps, right: bareReturnValue },
  { name: 'prestate has the operator fee vault before Isthmus', dialect: 'reth', applies: isPrestate(false), right: prestateOfReth },
  { name: 'words of steps have no 0x', dialect: 'reth', applies: isSteps, right: bareSteps },
  { name: 'returnData of steps is always empty', dialect: 'reth', applies: isSteps, right: unreadReturnData },
]

/** Returns a recorded trace and the trace of this project, without known differences. */
export const comparableTraces = (dialect: Dialect, request: TraceRequest, pair: TracePair): TracePair =>
  traceCauses.filter((cause) => cause.dialect === dialect && cause.applies(request)).reduce((made, { right }) => right(made), pair)

/**
 * True for a client's trace of a deposit that failed before it ran. Both clients make up a frame from the zero address; this project shows sender and
 * receiver. op-geth: a STOP with an error. The newer client: a successful call with all of the gas.
 */
export function isFailedDeposit(dialect: Dialect, theirs: Json): boolean {
  const { type, from, to } = fields(theirs)
  return dialect === 'op-geth' ? type === 'STOP' : type === 'CALL' && from === to && /^0x0+$/.test(String(from))
}

import { describe, expect, it } from 'vitest'
import type { RecordedChainName } from '#devnet/recordedChain'
import type { Tracer } from '#evm/traceEvents'
import { createTracer, type TraceRequest } from '#evm/tracing'
import { createTracedWasmEvm, type TracedEvm } from '#evm/wasmEvm'
import { fromHex } from '#lib/hex'
import type { CallMessage } from '#rpc/callPorts'
import { comparableTraces, isFailedDeposit } from '#test/harness/evm/traceDialects'
import { TracedChain } from '#test/harness/evm/tracedChain'
import { recordedExchanges } from '#test/harness/evm/tracedRecordings'
import type { Dialect } from '#test/harness/rpc/causes'
import type { Json } from '#test/harness/rpc/json'
import { type Hash, parseAddress } from '#types/ids'

/** Number of results of each tracer. */
type Counts = Readonly<Record<string, number>>
type Recording = {
  readonly name: RecordedChainName
  readonly dialect: Dialect
  readonly transactions: Counts
  readonly blocks: { readonly callTracer: number }
}

const recordings: readonly Recording[] = [
  {
    name: 'op-bedrock-to-holocene',
    dialect: 'op-geth',
    transactions: { callTracer: 73, 'failed deposit': 1, prestateTracer: 148, 'struct logs': 12 },
    blocks: { callTracer: 22 },
  },
  {
    name: 'op-ecotone-to-jovian',
    dialect: 'reth',
    transactions: { callTracer: 91, 'failed deposit': 2, prestateTracer: 186, 'struct logs': 12 },
    blocks: { callTracer: 19 },
  },
]

type CallJson = { readonly from: string; readonly to: string; readonly data: string }
type StructLog = { readonly op: string; readonly gasCost: number; readonly refund?: number }
type TreeCall = Readonly<Record<'type' | 'from' | 'gas' | 'gasUsed' | 'input', string>> & {
  readonly to?: string
  readonly output?: string
  readonly value?: string
  readonly error?: string
  readonly calls?: readonly TreeCall[]
}
type FlatCall = {
  readonly type: string
  readonly action: Readonly<Record<string, string>>
  readonly result?: Readonly<Record<string, string>>
  readonly error?: string
  readonly subtraces: number
  readonly traceAddress: readonly number[]
}

/** Hash of no transaction: the recorded outcome is an error. */
const unknownTransaction = `0x${'11'.repeat(32)}`

/** Default gas of a call. */
const gasCap = 50_000_000n

const messageOf = ({ from, to, data }: CallJson): CallMessage => ({
  ...{ from: parseAddress(from), to: parseAddress(to), data: fromHex(data), value: 0n, gasLimit: gasCap, gasPrice: 0n },
  ...{ accessList: [], authorizationList: [] },
})

/** Fields of a call that both formats have. */
type Short = Readonly<Record<string, unknown>>

function shortOfFlat({ type, action, result, error, subtraces, traceAddress }: FlatCall): Short {
  const kind = type === 'suicide' ? 'SELFDESTRUCT' : (action['callType'] ?? action['creationMethod'])?.toUpperCase()
  return {
    ...{ kind, error, subtraces, traceAddress },
    from: action['from'] ?? action['address'],
    to: action['to'] ?? action['refundAddress'] ?? result?.['address'],
    value: action['value'] ?? action['balance'],
    input: action['input'] ?? action['init'] ?? '0x',
    output: result?.['output'] ?? result?.['code'] ?? '0x',
    gas: action['gas'] ?? '0x0',
    gasUsed: result?.['gasUsed'],
  }
}

function shortOfTree(call: TreeCall, traceAddress: readonly number[], dialect: Dialect): readonly Short[] {
  const { type, from, to, gas, gasUsed, input, output = '0x', value = '0x0', error, calls = [] } = call
  const reason = dialect === 'op-geth' && error === 'invalid input length' ? 'precompiled failed' : error
  const hasResult = type !== 'SELFDESTRUCT' && (error === undefined || error === 'execution reverted')
  return [
    {
      ...{ kind: type, from, to, value, input, output, gas, error: reason, subtraces: calls.length, traceAddress },
      gasUsed: hasResult ? gasUsed : undefined,
    },
    ...calls.flatMap((inner, i) => shortOfTree(inner, [...traceAddress, i], dialect)),
  ]
}

const answerOf = (tracer: Tracer): Json => JSON.parse(JSON.stringify(tracer.result())) as Json

/** Steps without the refund of an SSTORE at its own step: the other interpreter counts it before the write. */
function stepsIn(tracer: Tracer): readonly StructLog[] {
  const { structLogs } = tracer.result() as unknown as { readonly structLogs: readonly StructLog[] }
  return structLogs.map(({ refund, ...step }) => (step.op === 'SSTORE' || refund === undefined ? step : { ...step, refund }))
}

/** Sources of the events that tracers receive. */
const sources: readonly { readonly source: string; readonly traced: TracedEvm | undefined }[] = [
  { source: 'the traced build', traced: createTracedWasmEvm() },
  { source: 'another interpreter', traced: undefined },
]
const cases = recordings.flatMap((recording) => sources.map((source) => ({ ...recording, ...source })))

describe.each(cases)('evm/tracing: $name on the events of $source', ({ name, dialect, transactions, blocks, traced: evm }) => {
  const chain = new TracedChain(`chains/${name}`, evm)

  async function traced(number: number, index: number, request: TraceRequest): Promise<Json> {
    const tracer = createTracer(request)
    await chain.trace(number, index, tracer)
    return answerOf(tracer)
  }

  it('gives every recorded trace of a transaction', async () => {
    const compared: Record<string, number> = {}
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceTransaction')) {
      if (!('result' in outcome)) {
        expect(params[0]).toBe(unknownTransaction)
        continue
      }
      const [hash, request] = params as unknown as [Hash, TraceRequest]
      const { number, index } = chain.find(hash)
      const ours = await traced(number, index, request)
      const isFailed = request.tracer === 'callTracer' && isFailedDeposit(dialect, outcome.result)
      const kind = isFailed ? 'failed deposit' : (request.tracer ?? 'struct logs')
      compared[kind] = (compared[kind] ?? 0) + 1
      if (isFailed) {
        expect(ours).toMatchObject({ type: 'CALL', error: 'failed deposit transaction' })
        continue
      }
      const pair = comparableTraces(dialect, request, { theirs: outcome.result, ours })
      expect(pair.ours, `${hash} ${JSON.stringify(request)}`).toEqual(pair.theirs)
    }
    expect(compared).toEqual(transactions)
  })

  it('gives every recorded trace of a block', async () => {
    let compared = 0
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceBlockByNumber')) {
      if (!('result' in outcome)) expect.fail(outcome.error.message)
      const [number, request] = params as unknown as [string, TraceRequest]
      const theirs = outcome.result as unknown as readonly { readonly txHash: Hash; readonly result: Json }[]
      expect(theirs.map(({ txHash }) => txHash)).toEqual(chain.transactions(Number(number)))
      for (const [index, { result }] of theirs.entries()) {
        const pair = comparableTraces(dialect, request, { theirs: result, ours: await traced(Number(number), index, request) })
        expect(pair.ours, `${number} ${index}`).toEqual(pair.theirs)
      }
      compared++
    }
    expect(compared).toBe(blocks.callTracer)
  })

  it('gives every recorded trace of a call', async () => {
    const compared: string[] = []
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceCall')) {
      const [call, number, request] = params as unknown as [CallJson, string, TraceRequest]
      const tracer = createTracer(request)
      await chain.traceCall(Number(number), messageOf(call), tracer)
      compared.push(request.tracer ?? 'struct logs')
      if ('result' in outcome) expect(answerOf(tracer)).toEqual(outcome.result)
      else expect([request.tracer, dialect]).toEqual(['muxTracer', 'reth']) // reth rejects an empty config for the 4byteTracer; go-ethereum's result counts
    }
    expect(compared).toEqual(['callTracer', '4byteTracer', 'muxTracer'])
  })

  it('gives the same results in a muxTracer as with single tracers', async () => {
    for (const [number, index] of [
      [20, 1],
      [21, 2],
      [36, 2],
    ] as const) {
      // biome-ignore format: a table
      const names = ['callTracer', 'flatCallTracer', '4byteTracer', 'prestateTracer', 'noopTracer']
      const alone = await Promise.all(names.map(async (tracer) => [tracer, await traced(number, index, { tracer })] as const))
      const tracerConfig = Object.fromEntries(names.map((tracer) => [tracer, {}]))
      expect(await traced(number, index, { tracer: 'muxTracer', tracerConfig })).toEqual(Object.fromEntries(alone))
    }
  })

  it('gives the flat list of calls as the recorded tree, flattened', async () => {
    let calls = 0
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceTransaction')) {
      const [hash, request] = params as unknown as [Hash, TraceRequest | undefined]
      if (!('result' in outcome) || request?.tracer !== 'callTracer' || isFailedDeposit(dialect, outcome.result)) continue
      const { number, index } = chain.find(hash)
      const flat = await traced(number, index, { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } })
      const found = (flat as unknown as readonly FlatCall[]).map(shortOfFlat)
      expect(found, hash).toEqual(shortOfTree(outcome.result as unknown as TreeCall, [], dialect))
      calls += found.length
    }
    expect(calls).toBeGreaterThan(100)
  })
})

describe.each(recordings)('evm/tracing: $name', ({ name }) => {
  const here = new TracedChain(`chains/${name}`, createTracedWasmEvm())
  const there = new TracedChain(`chains/${name}`)

  it("gives another interpreter's steps, stacks, memories and prices", async () => {
    let steps = 0
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceTransaction')) {
      const [hash, request] = params as unknown as [Hash, TraceRequest | undefined]
      if (!('result' in outcome) || request?.tracer !== 'callTracer') continue
      const { number, index } = there.find(hash)
      const [ours, theirs] = [1, 2].map(() => createTracer({ enableMemory: true, enableReturnData: true, limit: 2_500 })) as [
        Tracer,
        Tracer,
      ]
      await here.trace(number, index, ours)
      const prices = await there.trace(number, index, theirs)
      const structLogs = stepsIn(ours)
      expect(stepsIn(ours), hash).toEqual(stepsIn(theirs))
      // the gas that a call passes on is not part of the oracle's price
      expect(
        structLogs.map(({ op, gasCost }, i) => (/CALL$|CALLCODE/.test(op) ? prices[i] : gasCost)),
        hash,
      ).toEqual(prices.slice(0, structLogs.length))
      steps += structLogs.length
    }
    expect(steps).toBeGreaterThan(10_000)
  })
})

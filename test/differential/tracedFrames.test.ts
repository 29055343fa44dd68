import { describe, expect, it } from 'vitest'
import { evmForks } from '#chainspec/evmRules'
import type { EvmSession, StateView } from '#evm/ports'
import type { TraceEvents, Tracer } from '#evm/traceEvents'
import { createTracer } from '#evm/tracing'
import { createTracedWasmEvm } from '#evm/wasmEvm'
import { toHex } from '#lib/hex'
import { blockHashOf, type EvmCase, rulesOf } from '#test/harness/evm/case'
import { testBlock } from '#test/harness/evm/host'
import { traceWithOracle } from '#test/harness/evm/traceOracle'
import { stateOf, transaction } from '#test/harness/evm/traceScript'
import type { Json } from '#test/harness/rpc/json'
import { sampleOf } from '#test/harness/sample'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { createWorld } from '#test/vectors/stateTestWorld'
import { readCorpus } from '../fuzz/evm/corpus.ts'
import { caseOf, isEdgeCase } from '../fuzz/evm/world.ts'

const seed = 20_261_122
const casesOfFork = sampleOf(20, 60)
const corpus = readCorpus('committed')
const traced = createTracedWasmEvm()

type Call = Readonly<Record<string, Json>> & { readonly type: string; readonly error?: string; readonly calls?: readonly Call[] }

const cases = Array.from({ length: evmForks.length * casesOfFork * 2 }, (_, index) => index)
  .filter((index) => !isEdgeCase(index))
  .map((index) => ({ index, given: caseOf(seed, index, corpus) }))

const hexOf = (value: bigint): string => `0x${value.toString(16)}`

function viewOf(accounts: EvmCase['accounts']): StateView {
  const pre = [...accounts].map(([address, { nonce, balance, code, storage }]) => {
    const slots = Object.fromEntries([...storage].map(([slot, value]) => [hexOf(slot), hexOf(value)]))
    return [address, { nonce: hexOf(nonce), balance: hexOf(balance), code: toHex(code), storage: slots }]
  })
  return createWorld(Object.fromEntries(pre)).view
}

/** Begins the first message of a case on a session. */
function begin(session: EvmSession, { messages }: EvmCase) {
  const [first] = messages
  if (!first) throw new Error('case without messages')
  const { from, to, value, data, gas, warm = [], blobHashes = [], setCode } = first
  const env = { origin: from, gasPrice: 10n, blobHashes, warm }
  session.beginTransaction(env)
  if (setCode) session.setCode(setCode.of, setCode.code)
  return { env, message: { caller: from, to, value, data, gas } }
}

/** Calls of a trace without known differences: the reason of a halt may differ, and only this project traces calls that did not run. */
function comparable(call: Call): Call {
  const { error, calls, ...rest } = call
  const ran = calls?.filter((inner) => !/insufficient balance|call depth|nonce/.test(inner.error ?? '')).map(comparable) ?? []
  const end = error === undefined || error === 'execution reverted' ? error : 'halt'
  return { ...rest, ...(end !== undefined && { error: end }), ...(ran.length > 0 && { calls: ran }) }
}

async function callsOf(given: EvmCase, runTraced: (tracer: Tracer) => Promise<void> | void): Promise<Call> {
  const tracer = createTracer({ tracer: 'callTracer' })
  tracer.begin(transaction({ gas: Number(given.messages[0]?.gas ?? 0n) }))
  await runTraced(tracer)
  tracer.end({ gasUsed: 0, succeeded: true }, stateOf({}), stateOf({}))
  return comparable(tracer.result() as unknown as Call)
}

function tellHere(given: EvmCase, events: TraceEvents & Pick<Tracer, 'needs'>): void {
  using session = traced.open(viewOf(given.accounts), testBlock, rulesOf(given.fork), events)
  session.run(begin(session, given).message)
}

async function tellThere(given: EvmCase, events: TraceEvents): Promise<void> {
  const rules = rulesOf(given.fork)
  using session = createReferenceEvm().open(viewOf(given.accounts), testBlock, rules)
  const { env, message } = begin(session, given)
  await traceWithOracle({ message, transaction: env, block: testBlock, rules, state: session, blockHash: blockHashOf }, events)
}

const count = ({ calls = [] }: Call): number => 1 + calls.reduce((sum, call) => sum + count(call), 0)

describe('evm/tracing: traces the frames of random programs like another interpreter', () => {
  const kinds = new Set<string>()

  it.each(evmForks)(
    '%s',
    async (fork) => {
      let frames = 0
      for (const { index, given } of cases.filter(({ given }) => given.fork === fork).slice(0, casesOfFork)) {
        const ours = await callsOf(given, (tracer) => tellHere(given, tracer))
        const theirs = await callsOf(given, (tracer) => tellThere(given, tracer))
        expect(ours, `case ${index}`).toEqual(theirs)
        frames += count(ours)
        for (const [, kind] of JSON.stringify(ours).matchAll(/"type":"(\w+)"/g)) kinds.add(kind ?? '')
      }
      expect(frames).toBeGreaterThan(2 * casesOfFork)
    },
    60_000,
  )

  it('with frames of every kind', () => {
    expect([...kinds].sort()).toEqual(['CALL', 'CALLCODE', 'CREATE', 'CREATE2', 'DELEGATECALL', 'SELFDESTRUCT', 'STATICCALL'])
  })
})

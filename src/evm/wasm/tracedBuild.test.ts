import { describe, expect, it } from 'vitest'
import { addressOf, callTo, cancun, push, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { alice, bob, carol, slotNumber, stateOf, transaction } from '#test/harness/evm/traceScript'
import { createWorld } from '#test/vectors/stateTestWorld'
import { type Message, MissingState, type Outcome, type StateView, type WantedState } from '../ports.ts'
import type { FrameEnd, FrameStart, TraceListener } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'
import { createTracedWasmEvm, createWasmEvm } from '../wasmEvm.ts'

const traced = createTracedWasmEvm()
type Codes = Readonly<Record<string, string>>

const world = (codes: Codes) =>
  createWorld({
    [alice]: testAccount({ balance: '0x64' }),
    ...Object.fromEntries(Object.entries(codes).map(([address, code]) => [address, testAccount({ code: `0x${code}`, nonce: '0x1' })])),
  }).view

const toBob = (change: Partial<Message> = {}): Message => ({
  caller: alice,
  to: bob,
  value: 0n,
  data: Uint8Array.of(1, 2),
  gas: 100_000n,
  ...change,
})

function run(codes: Codes, listener: TraceListener, message = toBob()): Outcome {
  using session = traced.open(world(codes), testBlock, cancun, listener)
  session.beginTransaction(testTransaction(alice))
  return session.run(message)
}

function traceOf(codes: Codes, request: Record<string, unknown>, message = toBob()): unknown {
  const tracer = createTracer(request)
  tracer.begin(transaction({ gas: 100_000 }))
  const outcome = run(codes, tracer, message)
  tracer.end({ gasUsed: Number(100_000n - outcome.gasLeft), succeeded: outcome.kind === 'success' }, stateOf({}), stateOf({}))
  return tracer.result()
}
type Calls = { readonly calls?: readonly Readonly<Record<string, unknown>>[] }
const callsOf = (codes: Codes, message?: Message) => (traceOf(codes, { tracer: 'callTracer' }, message) as Calls).calls ?? []

const create = (value: number): string => `${push(0)}${push(0)}${push(value)}f0`

/** A view that throws MissingState for the first read of each item. */
function forgetful(whole: StateView): { readonly view: StateView; readonly told: ReadonlySet<string> } {
  const told = new Set<string>()
  const wait = (wanted: WantedState): void => {
    const name = JSON.stringify(Object.values(wanted))
    if (told.has(name)) return
    told.add(name)
    throw new MissingState(wanted)
  }
  const view: StateView = {
    account(addressKey) {
      wait({ kind: 'account', addressKey })
      return whole.account(addressKey)
    },
    slot(addressKey, slotKey) {
      wait({ kind: 'slot', addressKey, slotKey })
      return whole.slot(addressKey, slotKey)
    },
    code(codeHash) {
      wait({ kind: 'code', codeHash })
      return whole.code(codeHash)
    },
    blockHash(number) {
      wait({ kind: 'blockHash', number })
      return whole.blockHash(number)
    },
  }
  return { view, told }
}

describe('evm/wasm: the traced build', () => {
  it('reports calls and creations that never ran, with the gas they return', () => {
    expect(callsOf({ [bob]: `${push(0).repeat(4)}${push(7)}${push(carol)}${push(5)}f1${create(9)}` })).toEqual([
      {
        ...{ type: 'CALL', from: bob, to: carol, value: '0x7', input: '0x', gas: '0x901', gasUsed: '0x0' },
        error: 'insufficient balance for transfer',
      },
      {
        ...{ type: 'CREATE', from: bob, value: '0x9', input: '0x', gas: expect.any(String), gasUsed: '0x0' },
        error: 'insufficient balance for transfer',
      },
    ])
  })

  it('reports a call of an account without code, and of a precompile', () => {
    expect(callsOf({ [bob]: `${callTo(carol)}${push(0)}${push(0)}${push(2)}${push(0)}${push(4)}5afa` })).toMatchObject([
      { type: 'CALL', to: carol, gasUsed: '0x0' },
      { type: 'STATICCALL', to: `0x${'4'.padStart(40, '0')}`, input: '0x0000', output: '0x0000', gasUsed: '0x12' },
    ])
  })

  it('reports an unaffordable precompile, which consumes all gas, and a failing precompile', () => {
    const identity = `${push(0).repeat(2)}${push(64)}${push(0)}${push(4)}${push(10)}fa`
    const blake2f = `${push(0).repeat(4)}${push(9)}5afa`
    expect(callsOf({ [bob]: `${identity}${blake2f}` })).toMatchObject([{ gas: '0xa', gasUsed: '0xa' }, { error: 'precompiled failed' }])
  })

  it('reports a self-destruct with the value it moves', () => {
    const message = toBob({ value: 9n })
    const calls = callsOf({ [bob]: `${push(carol)}ff` }, message)
    expect(calls).toEqual([{ type: 'SELFDESTRUCT', from: bob, to: carol, value: '0x9', gas: '0x0', gasUsed: '0x0', input: '0x' }])
  })

  it('reports a thousand nested calls, and the last one beyond the depth limit', () => {
    const frames: FrameStart[] = []
    const ends: FrameEnd['end'][] = []
    const tracer = createTracer({ tracer: 'callTracer' })
    const listener: TraceListener = {
      ...tracer,
      onEnter: (frame) => void frames.push({ ...frame }),
      onLeave: ({ end }) => void ends.push(end),
    }
    run({ [bob]: `${push(0).repeat(5)}305af1` }, listener, toBob({ gas: 2n ** 45n }))
    expect(frames.map(({ depth }) => depth)).toEqual(Array.from({ length: 1_026 }, (_, depth) => depth))
    expect([ends[0], ...new Set(ends.slice(1))]).toEqual(['call depth', 'success'])
  })

  it('reports the opcode that halted', () => {
    expect(traceOf({ [bob]: `${push(1)}0c` }, { tracer: 'callTracer' })).toMatchObject({ error: 'invalid opcode: opcode 0xc not defined' })
    expect(traceOf({ [bob]: 'fe' }, { tracer: 'callTracer' })).toMatchObject({ error: 'invalid opcode: INVALID' })
  })

  it('reports the STOP after the end of code and a step with too few words, and no step after a halt', () => {
    type Logs = { readonly structLogs: readonly Readonly<Record<string, unknown>>[] }
    const stopped = traceOf({ [bob]: push(1) }, {}) as Logs
    expect(stopped.structLogs.map(({ pc, op }) => [pc, op])).toEqual([[0, 'PUSH1'], [2, 'STOP']]) // biome-ignore format: one line
    const halted = traceOf({ [bob]: `${push(1)}01${push(2)}` }, {}) as Logs
    expect(halted.structLogs.at(-1)).toMatchObject({ pc: 2, op: 'ADD', stack: ['0x1'], error: 'stack underflow' })
  })

  it('shows memory and return data as of each step', () => {
    const logs = traceOf(
      {
        [bob]: `${push(5)}${push(0)}53${push(0).repeat(4)}${push(carol)}5afa00`,
        [carol]: `${push(0xab)}${push(0)}53${push(2)}${push(0)}f3`,
      },
      { enableMemory: true, enableReturnData: true, disableStack: true },
    ) as {
      readonly structLogs: readonly {
        readonly op: string
        readonly depth: number
        readonly memory: readonly string[]
        readonly returnData: string
      }[]
    }
    const last = logs.structLogs.at(-1)
    expect(last).toMatchObject({ op: 'STOP', depth: 1, memory: [`0x05${'00'.repeat(31)}`], returnData: '0xab00' })
    expect(logs.structLogs.find(({ depth }) => depth === 2)).toMatchObject({ memory: [], returnData: '0x' })
  })

  it('reports steps that do not fit into one buffer', () => {
    const steps = createTracer({ limit: 1 })
    let told = 0
    let last = -1
    // a loop over a stack of twenty words until little gas is left: about twenty buffers of records
    const code = `${push(1).repeat(20)}5b${push(0)}50${push(0xffff)}5a11${push(40)}57`
    const outcome = run({ [bob]: code }, {
      ...steps,
      onStep: ({ gas }) => {
        told++
        if (last >= 0 && gas > last) throw new Error('out of order')
        last = gas
      },
    }, toBob({ gas: 3_000_000n })) // biome-ignore format: one call
    expect(outcome.kind).toBe('success')
    expect(told).toBeGreaterThan(500_000)
  })

  it('a listener that throws ends the message; the next session on the instance works normally', () => {
    const own = createTracedWasmEvm()
    const codes = { [bob]: `${callTo(carol)}00`, [carol]: `${push(3)}${push(1)}55` }
    const open = (listener: TraceListener) => own.open(world(codes), testBlock, cancun, listener)
    const small = createTracer({}, 300)
    {
      using session = open(small)
      session.beginTransaction(testTransaction(alice))
      expect(() => session.run(toBob())).toThrow(expect.objectContaining({ code: 'TRACE_TOO_LARGE' }))
    }
    const tracer = createTracer({ tracer: 'callTracer' })
    using session = open(tracer)
    session.beginTransaction(testTransaction(alice))
    tracer.begin(transaction())
    const outcome = session.run(toBob())
    expect(outcome.kind).toBe('success')
    expect(session.slot(carol, slotNumber(1))).toBe(3n)
    tracer.end({ gasUsed: 1, succeeded: true }, stateOf({}), stateOf({}))
    expect(tracer.result()).toMatchObject({ calls: [{ to: carol }] })
  })

  it('ends like the plain build, with and without a listener', () => {
    const codes = { [bob]: `${callTo(carol)}${create(0)}${push(4)}${push(2)}5500`, [carol]: `${push(3)}${push(1)}55fe` }
    const outcomes = [undefined, {}, { tracer: 'callTracer' }, { tracer: 'noopTracer' }, { tracer: 'prestateTracer' }].map((request) => {
      if (request !== undefined) return run(codes, createTracer(request))
      using session = createWasmEvm().open(world(codes), testBlock, cancun)
      session.beginTransaction(testTransaction(alice))
      return session.run(toBob())
    })
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
  })

  it('reports a message that waits for state like a message that has it', () => {
    const codes = {
      [bob]: `${callTo(carol)}${push(1)}5450${push(carol)}3150${push(999)}4050${create(0)}00`,
      [carol]: `${push(3)}${push(1)}55`,
    }
    const patiently = <T>(ask: () => T, again: () => T): T => {
      let next = ask
      for (;;) {
        try {
          return next()
        } catch (error) {
          if (!(error instanceof MissingState)) throw error
          next = again
        }
      }
    }
    const request = { tracer: 'muxTracer', tracerConfig: { callTracer: {}, prestateTracer: {} } }
    for (const given of [{ enableMemory: true }, {}, request]) {
      const { view, told } = forgetful(world(codes))
      const tracer = createTracer(given)
      tracer.begin(transaction({ gas: 100_000 }))
      using session = traced.open(view, testBlock, cancun, tracer)
      session.beginTransaction(testTransaction(alice))
      const outcome = patiently(
        () => session.run(toBob()),
        () => session.resume(),
      )
      tracer.end({ gasUsed: Number(100_000n - outcome.gasLeft), succeeded: true }, stateOf({}), stateOf({}))
      expect(told.size).toBeGreaterThan(3)
      expect(tracer.result()).toEqual(traceOf(codes, given))
    }
  })

  it('an unknown address is not a precompile', () => {
    const calls = callsOf({ [bob]: callTo(addressOf(0x01)) })
    expect(calls).toMatchObject([{ to: addressOf(0x01), gasUsed: '0x0' }])
  })
})

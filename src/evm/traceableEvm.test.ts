import { expect, it } from 'vitest'
import { cancun, testBlock, testTransaction } from '#test/harness/evm/host'
import { alice, bob, carol } from '#test/harness/evm/traceScript'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { createWorld } from '#test/vectors/stateTestWorld'
import { createTraceableEvm } from './traceableEvm.ts'
import type { TraceListener, TraceNeeds } from './traceEvents.ts'
import { createTracer } from './tracing.ts'

/** A reference interpreter that emits no events; records the listeners passed to it. */
function untold() {
  const given: TraceListener[] = []
  const { evm, listen } = createTraceableEvm({
    open(view, block, rules, listener) {
      given.push(listener)
      return createReferenceEvm().open(view, block, rules)
    },
  })
  return { session: evm.open(createWorld({}).view, testBlock, cancun), listen, needs: (): TraceNeeds | undefined => given[0]?.needs }
}

it('evm/traceableEvm: needs nothing before a tracer listens and after it stops', () => {
  const { listen, needs } = untold()
  const tracer = createTracer({ tracer: 'prestateTracer' })
  const none = { frames: false, logs: false, accounts: false, steps: undefined }
  expect(needs()).toEqual(none)
  listen(tracer)
  expect(needs()).toBe(tracer.needs)
  listen(undefined)
  expect(needs()).toEqual(none)
})

it('evm/traceableEvm: reports accounts changed outside a message while a tracer listens', () => {
  const { session, listen } = untold()
  const told: string[] = []
  const tracer = { ...createTracer({ tracer: 'noopTracer' }), onAccount: (address: string) => void told.push(address) }
  session.beginTransaction(testTransaction(alice))
  session.addBalance(alice, 5n)
  listen(tracer)
  session.subtractBalance(alice, 1n)
  session.setNonce(bob, 1n)
  session.setCode(carol, Uint8Array.of(0))
  listen(undefined)
  session.addBalance(bob, 5n)
  session.endTransaction()
  expect(told).toEqual([alice, bob, carol])
  expect(session.account(alice)?.balance).toBe(4n)
  expect(session.account(bob)).toMatchObject({ balance: 5n, nonce: 1n })
})

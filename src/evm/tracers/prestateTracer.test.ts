import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { addressOf } from '#test/harness/evm/host'
import {
  alice,
  bob,
  carol,
  ended,
  frame,
  inner,
  innerEnd,
  slotNumber,
  stateOf,
  step,
  traceOf,
  wordsOf,
} from '#test/harness/evm/traceScript'
import type { Tracer } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'

describe('evm/tracers: prestateTracer', () => {
  const code = wordsOf(0x60, 0x00)
  const before = stateOf({
    [alice]: { balance: 100n, nonce: 5n },
    [bob]: { nonce: 1n, code, slots: { [slotNumber(1)]: 7n, [slotNumber(2)]: 8n } },
  })
  const told = (config: unknown, tell: (tracer: Tracer) => void, after = before) =>
    traceOf(createTracer({ tracer: 'prestateTracer', tracerConfig: config }), tell, { before, after })
  const running = (to: Tracer): void => {
    to.onEnter(frame())
    to.onStep(step({ op: 0x54, words: [1n] }))
    to.onStep(step({ op: 0x55, words: [5n, 2n] }))
    to.onStep(step({ op: 0x54, words: [3n] }))
    to.onStep(step({ op: 0x54, words: [] }))
    to.onStep(step({ op: 0x01, words: [0xeen, 0xeen] }))
    to.onStep(step({ op: 0x31, words: [BigInt(carol)] }))
    to.onLeave(ended())
  }

  it('returns every accessed account and slot as before the transaction', () => {
    const storage = { [slotNumber(1)]: slotNumber(7), [slotNumber(2)]: slotNumber(8), [slotNumber(3)]: slotNumber(0) }
    expect(told({}, running)).toEqual({
      [alice]: { balance: '0x64', nonce: 5 },
      [bob]: { balance: '0x0', nonce: 1, code: '0x6000', storage },
      [carol]: { balance: '0x0' },
    })
  })

  it('disableCode, disableStorage: omits code and storage', () => {
    expect(told({ disableCode: true, disableStorage: true }, running)).toEqual({
      [alice]: { balance: '0x64', nonce: 5 },
      [bob]: { balance: '0x0', nonce: 1 },
      [carol]: { balance: '0x0' },
    })
  })

  it('diffMode: returns changes before and after; a cleared slot appears only before', () => {
    const after = stateOf({
      [alice]: { balance: 90n, nonce: 6n },
      [bob]: { nonce: 1n, code, slots: { [slotNumber(2)]: 5n, [slotNumber(3)]: 9n } },
    })
    expect(told({ diffMode: true }, running, after)).toEqual({
      pre: {
        [alice]: { balance: '0x64', nonce: 5 },
        [bob]: { balance: '0x0', nonce: 1, code: '0x6000', storage: { [slotNumber(1)]: slotNumber(7), [slotNumber(2)]: slotNumber(8) } },
      },
      post: {
        [alice]: { balance: '0x5a', nonce: 6 },
        [bob]: { storage: { [slotNumber(2)]: slotNumber(5), [slotNumber(3)]: slotNumber(9) } },
      },
    })
  })

  it('diffMode: a created account appears only after, a removed one only before, a temporary one not at all', () => {
    const gone = addressOf(0xdd)
    const after = stateOf({ [alice]: { balance: 100n, nonce: 5n }, [carol]: { balance: 1n, nonce: 1n, code } })
    const tell = (to: Tracer): void => {
      to.onEnter(frame())
      for (const made of [carol, gone]) {
        to.onEnter(inner({ kind: 'CREATE', to: made }))
        to.onLeave(innerEnd())
      }
      to.onEnter(inner({ kind: 'SELFDESTRUCT', from: bob, to: alice }))
      to.onLeave(innerEnd())
      to.onLeave(ended())
    }
    expect(told({ diffMode: true }, tell, after)).toEqual({
      pre: { [bob]: { balance: '0x0', nonce: 1, code: '0x6000' } },
      post: { [carol]: { balance: '0x1', nonce: 1, code: '0x6000' } },
    })
  })

  it('diffMode: reports removed code as empty (EIP-7702)', () => {
    const after = stateOf({ [alice]: { balance: 100n, nonce: 5n }, [bob]: { nonce: 2n } })
    expect(told({ diffMode: true }, (to) => to.onAccount(bob), after)).toMatchObject({ post: { [bob]: { code: '0x', nonce: 2 } } })
  })

  it('a call of a delegated account also accesses its delegate (EIP-7702)', () => {
    const delegated = stateOf({ [bob]: { code: fromHex(`0xef0100${carol.slice(2)}`) } })
    const tracer = createTracer({ tracer: 'prestateTracer' })
    const result = traceOf(tracer, (to) => to.onEnter(frame()), { before: delegated, after: delegated })
    expect(Object.keys(result as object)).toEqual([alice, bob, carol])
  })

  it('a call that never started also accesses its callee', () => {
    const result = told({}, (to) => {
      to.onEnter(frame())
      to.onStep(step({ op: 0xf1, words: [0n, 0n, 0n, 0n, 1n, BigInt(carol) + (1n << 200n), 50n] }))
    })
    expect(result).toHaveProperty(carol)
  })
})

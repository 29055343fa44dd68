import { describe, expect, it } from 'vitest'
import { bob, ended, frame, inner, innerEnd, slotNumber, step, traceOf, wordsOf } from '#test/harness/evm/traceScript'
import type { Tracer } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'

describe('evm/tracers: struct logs', () => {
  type Logs = { readonly structLogs: readonly Record<string, unknown>[] }
  const told = (request: Record<string, unknown>, tell: (tracer: Tracer) => void, given?: Parameters<typeof traceOf>[2]) =>
    traceOf(createTracer(request), tell, given) as Logs

  it('gasCost is the difference to the next step; that of a call includes the gas it passed on', () => {
    const { structLogs, ...rest } = told({}, (to) => {
      to.onEnter(frame({ gas: 1_000 }))
      to.onStep(step({ pc: 0, op: 0x5f, gas: 1_000 }))
      to.onStep(step({ pc: 1, op: 0xf1, gas: 998, words: [0n, 2n ** 256n - 1n] }))
      to.onEnter(inner({ gas: 500 }))
      to.onStep(step({ pc: 0, op: 0x00, depth: 1, gas: 500 }))
      to.onLeave(innerEnd({ gasUsed: 0 }))
      to.onStep(step({ pc: 2, op: 0x00, gas: 898, refund: 4_800 }))
      to.onLeave(ended({ gasUsed: 102, output: wordsOf(1) }))
    })
    expect(rest).toEqual({ gas: 21_000, failed: false, returnValue: '0x01' })
    expect(structLogs).toEqual([
      { pc: 0, op: 'PUSH0', gas: 1_000, gasCost: 2, depth: 1, stack: [] },
      { pc: 1, op: 'CALL', gas: 998, gasCost: 600, depth: 1, stack: ['0x0', `0x${'f'.repeat(64)}`] },
      { pc: 0, op: 'STOP', gas: 500, gasCost: 0, depth: 2, stack: [] },
      { pc: 2, op: 'STOP', gas: 898, gasCost: 0, depth: 1, stack: [], refund: 4_800 },
    ])
  })

  it('gasCost of a creation excludes the gas of its initcode, and that of RETURN the cost of the code', () => {
    const { structLogs } = told({ disableStack: true }, (to) => {
      to.onEnter(frame({ gas: 100_000 }))
      to.onStep(step({ op: 0xf0, gas: 100_000 }))
      to.onEnter(inner({ kind: 'CREATE', gas: 60_000 }))
      to.onStep(step({ op: 0xf3, depth: 1, gas: 60_000 }))
      to.onLeave(innerEnd({ gasUsed: 406, output: wordsOf(1, 2) }))
      to.onStep(step({ op: 0x00, gas: 67_594 }))
      to.onLeave(ended({ gasUsed: 32_406 }))
    })
    expect(structLogs.map(({ op, gasCost }) => [op, gasCost])).toEqual([['CREATE', 32_000], ['RETURN', 6], ['STOP', 0]]) // biome-ignore format: one line
  })

  it('SLOAD and SSTORE show the slots that their contract has used so far, with the values read', () => {
    const { structLogs } = told({}, (to) => {
      to.onEnter(frame())
      to.onStep(step({ op: 0x54, words: [1n] }))
      to.onStep(step({ op: 0x55, words: [4n, 9n, 2n] }))
      to.onEnter(inner({ kind: 'DELEGATECALL', self: bob }))
      to.onStep(step({ op: 0x55, depth: 1, words: [6n, 3n] }))
      to.onLeave(innerEnd())
      to.onLeave(ended())
    })
    expect(structLogs.map(({ storage }) => storage)).toEqual([
      { [slotNumber(1)]: slotNumber(2) },
      { [slotNumber(1)]: slotNumber(2), [slotNumber(2)]: slotNumber(9) },
      { [slotNumber(1)]: slotNumber(2), [slotNumber(2)]: slotNumber(9), [slotNumber(3)]: slotNumber(6) },
    ])
  })

  it('disableStorage, disableStack: omits storage and stack', () => {
    const { structLogs } = told({ disableStorage: true, disableStack: true }, (to) => {
      to.onEnter(frame())
      to.onStep(step({ op: 0x55, words: [4n, 2n] }))
      to.onLeave(ended())
    })
    expect(Object.keys(structLogs[0] ?? {})).toEqual(['pc', 'op', 'gas', 'gasCost', 'depth'])
  })

  it('enableMemory, enableReturnData: shows memory in words, and the return data of the last call', () => {
    const memory = new Uint8Array(64).fill(0xab, 32)
    const { structLogs } = told({ enableMemory: true, enableReturnData: true }, (to) => {
      to.onEnter(frame())
      to.onStep(step({ op: 0x00, memory, returned: wordsOf(7) }))
      to.onLeave(ended())
    })
    expect(structLogs[0]).toMatchObject({ memory: [`0x${'00'.repeat(32)}`, `0x${'ab'.repeat(32)}`], returnData: '0x07' })
  })

  it('limit: returns at most that many steps, with the gasCost of the last one', () => {
    const { structLogs } = told({ limit: 2 }, (to) => {
      to.onEnter(frame())
      for (let pc = 0; pc < 5; pc++) to.onStep(step({ pc, op: 0x5b, gas: 79_000 - pc }))
      to.onLeave(ended())
    })
    expect(structLogs.map(({ pc, gasCost }) => [pc, gasCost])).toEqual([[0, 1], [1, 1]]) // biome-ignore format: one line
  })

  it('a halting step has an error and its static gas', () => {
    const { structLogs, ...rest } = told(
      {},
      (to) => {
        to.onEnter(frame({ gas: 10 }))
        to.onStep(step({ op: 0x20, gas: 10, staticCost: 30, words: [0n, 0n] }))
        to.onLeave(ended({ end: 'out of gas', gasUsed: 10 }))
      },
      { succeeded: false, gasUsed: 100_000 },
    )
    expect(structLogs).toMatchObject([{ op: 'KECCAK256', gasCost: 30, error: 'out of gas' }])
    expect(rest).toEqual({ gas: 100_000, failed: true, returnValue: '0x' })
  })

  it('a creation whose code is rejected did not fail at its last step', () => {
    const { structLogs } = told({}, (to) => {
      to.onEnter(frame({ kind: 'CREATE' }))
      to.onStep(step({ op: 0xf3 }))
      to.onLeave(ended({ end: 'invalid code', gasUsed: 79_000 }))
    })
    expect(structLogs[0]).not.toHaveProperty('error')
  })

  it('names opcodes, and undefined opcodes by number', () => {
    const ops = [0x44, 0x1e, 0x5e, 0x7f, 0x8f, 0x9f, 0xa4, 0xfa, 0x0c, 0xef]
    const { structLogs } = told({ disableStack: true }, (to) => {
      to.onEnter(frame())
      for (const op of ops) to.onStep(step({ op }))
    })
    expect(structLogs.map(({ op }) => op)).toEqual([
      ...['DIFFICULTY', 'CLZ', 'MCOPY', 'PUSH32', 'DUP16', 'SWAP16', 'LOG4', 'STATICCALL'],
      ...['opcode 0xc not defined', 'opcode 0xef not defined'],
    ])
  })
})

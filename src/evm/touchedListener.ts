import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'
import type { FrameStart, TraceListener, TraceStep } from './traceEvents.ts'
import { createBudget } from './tracers/budget.ts'
import { noEvents } from './tracers/noEvents.ts'
import { opcode } from './tracers/opcodeNames.ts'
import { Touched, touchingOps } from './tracers/touched.ts'

/** Accounts by address, each with its slots by number. */
export type TouchedState = readonly { readonly address: Address; readonly slots: readonly Hash[] }[]

/** Listener that records the accounts and slots that transactions access, whether or not they exist, and the accounts whose code they run or read. */
export type TouchedListener = TraceListener & { list(): TouchedState; codes(): Iterable<Address> }

const addressMask = (1n << 160n) - 1n

/** Creates a listener. @param maxBytes approximate size of the list. @throws Fault TRACE_TOO_LARGE, from its callbacks */
export function createTouchedListener(maxBytes: number): TouchedListener {
  const touched = new Touched(createBudget('state reads', maxBytes))
  const coded = new Set<Address>()
  return {
    ...noEvents,
    needs: { frames: true, logs: false, accounts: true, steps: { ops: touchingOps, stackWords: 2, memory: false, returnData: false } },
    onEnter(frame: FrameStart): void {
      touched.enter(frame)
      coded.add(frame.to)
    },
    onStep(step: TraceStep): void {
      touched.step(step)
      const readsCode = step.op === opcode.extcodesize || step.op === opcode.extcodecopy
      if (readsCode && step.stackSize > 0) coded.add(toHex(bytesFromBigint(step.stack(0) & addressMask, 20)) as Address)
    },
    onAccount: (address: Address) => touched.account(address),
    onNativeAccess: (address: Address, slot: Hash | undefined) => touched.access(address, slot),
    list: () => touched.list([]),
    codes: () => coded,
  }
}

import type { FrameEnd, FrameKind, FrameStart, Tracer, TraceStep } from '../traceEvents.ts'
import { noEvents } from './noEvents.ts'
import { opcodeName } from './opcodeNames.ts'

type Frame = {
  readonly kind: FrameKind
  readonly gas: number
  /** The opcode whose gas the next event reveals. */
  op: number
  opGas: number
  staticCost: number
  /** Gas that frames of the opcode have returned, or taken. */
  returned: number
}

const nothing = -1
const codeByteGas = 200

/**
 * Creates a tracer that counts executions and gas per opcode; a call's gas includes the gas it passed on. Returns a list of {opcode, count, gasUsed}
 * in
 * opcode order.
 * @see base-reth-node, `trace_transactionOpcodeGas`
 */
export function createOpcodeGasTracer(): Tracer {
  const counts = new Float64Array(256)
  const gas = new Float64Array(256)
  const frames: Frame[] = []

  const settle = (frame: Frame, price: number): void => {
    if (frame.op === nothing) return
    counts[frame.op] = (counts[frame.op] as number) + 1
    gas[frame.op] = (gas[frame.op] as number) + price
    frame.op = nothing
  }

  return {
    ...noEvents,
    needs: {
      ...{ frames: true, logs: false, accounts: false },
      steps: { ops: 'all', stackWords: 0, memory: false, returnData: false },
    },
    begin(): void {},
    onEnter({ kind, gas: own }: FrameStart): void {
      frames.push({ kind, gas: own, op: nothing, opGas: 0, staticCost: 0, returned: 0 })
    },
    onStep({ op, gas: left, staticCost }: TraceStep): void {
      const frame = frames.at(-1)
      if (frame === undefined) throw new RangeError('a step outside of a frame')
      settle(frame, frame.opGas + frame.returned - left)
      Object.assign(frame, { op, opGas: left, staticCost, returned: 0 })
    },
    onLeave({ end, gasUsed, output }: FrameEnd): void {
      const frame = frames.pop()
      if (frame === undefined) throw new RangeError('a frame ends that did not begin')
      const isCreation = frame.kind === 'CREATE' || frame.kind === 'CREATE2'
      const isHalt = end !== 'success' && end !== 'revert'
      const left = frame.gas - gasUsed + (isCreation && end === 'success' ? codeByteGas * output.length : 0)
      settle(frame, isHalt ? frame.staticCost : frame.opGas + frame.returned - left)
      const caller = frames.at(-1)
      if (caller !== undefined && frame.kind !== 'SELFDESTRUCT') caller.returned += isCreation ? -gasUsed : frame.gas - gasUsed
    },
    end(): void {},
    result: () =>
      Array.from(counts, (count, op) => ({ opcode: opcodeName(op), count, gasUsed: gas[op] as number })).filter(({ count }) => count > 0),
  }
}

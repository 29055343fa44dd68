// The traced build. It must end each case like the plain one, and its steps must equal the oracle's.

import type { Evm } from '#evm/ports'
import type { TraceEvents, TraceNeeds } from '#evm/traceEvents'
import { createTracedWasmEvm } from '#evm/wasmEvm'
import type { OracleStep, OracleWatch } from '#test/harness/evm/oracle'
import { opcodesOf } from './opcodes.ts'

const needs: TraceNeeds = {
  frames: true,
  logs: true,
  accounts: false,
  steps: { ops: 'all', stackWords: 2, memory: false, returnData: false },
}

const nothing = (): void => undefined

/** Name of every undefined opcode in the oracle's steps. */
const invalid = 0xfe

/** Maximum number of steps that are kept and compared. */
const mostSteps = 20_000

type StepLine = string

/** Interpreter that keeps the steps of the last session. */
export type TracedInterpreter = { readonly evm: Evm; steps(): readonly StepLine[] }

const line = (depth: number, pc: number, op: number, gas: number | bigint, size: number, top: bigint, second: bigint): StepLine =>
  `depth ${depth} pc ${pc} op ${op.toString(16)} gas ${gas} words ${size} ${top.toString(16)} ${second.toString(16)}`

/** Traced build with a listener that writes a line for each step. */
export function createTracedInterpreter(): TracedInterpreter {
  const traced = createTracedWasmEvm()
  let steps: StepLine[] = []
  let opcodes = new Set<number>()
  const listener: TraceEvents & { readonly needs: TraceNeeds } = {
    needs,
    onEnter: nothing,
    onLeave: nothing,
    onLog: nothing,
    onAccount: nothing,
    onNativeAccess: nothing,
    onStep(step): void {
      if (steps.length >= mostSteps) return
      const { depth, pc, op, gas, stackSize } = step
      const known = opcodes.has(op) ? op : invalid
      steps.push(line(depth, pc, known, gas, stackSize, stackSize > 0 ? step.stack(0) : 0n, stackSize > 1 ? step.stack(1) : 0n))
    },
  }
  return {
    evm: {
      open(view, block, rules) {
        steps = []
        opcodes = new Set(opcodesOf(rules.fork).map(({ code }) => code))
        return traced.open(view, block, rules, listener)
      },
    },
    steps: () => steps,
  }
}

/** Keeps the oracle's steps, and forwards them to another watch. */
export function keepSteps(other: OracleWatch | undefined): { readonly watch: OracleWatch; readonly steps: readonly StepLine[] } {
  const steps: StepLine[] = []
  const watch: OracleWatch = {
    beforeMessage: () => other?.beforeMessage(),
    afterMessage: (error) => other?.afterMessage(error),
    step(step): void {
      other?.step(step)
      if (steps.length < mostSteps) steps.push(lineOf(step))
    },
  }
  return { watch, steps }
}

const lineOf = ({ depth, pc, opcode, gas, stack }: OracleStep): StepLine =>
  line(depth, pc, opcode, gas, stack.length, stack.at(-1) ?? 0n, stack.at(-2) ?? 0n)

/** Steps that only the traced build reports: the STOP after the end of the code, and a REVERT with too few words. */
const isOursAlone = (step: StepLine): boolean => / op 0 | op fd gas \d+ words [01] /.test(step)

/** First step that differs, as text. */
export function differenceOfSteps(ours: readonly StepLine[], oracle: readonly StepLine[]): string | undefined {
  let at = 0
  for (const step of ours) {
    if (step === oracle[at]) at++
    else if (at >= mostSteps) return undefined
    else if (!isOursAlone(step)) return `step ${at}: ${step} and ${oracle[at] ?? 'none'}`
  }
  return at < oracle.length && ours.length < mostSteps ? `step ${at}: none and ${oracle[at]}` : undefined
}

// The traced build: it must end each case as the plain one, and its steps are those of the oracle.

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

/** What the oracle calls every opcode that there is none of. */
const invalid = 0xfe

/** More than this are not kept: they are compared up to there. */
const mostSteps = 20_000

type StepLine = string

/** An interpreter that keeps the steps of the last session. */
export type TracedInterpreter = { readonly evm: Evm; steps(): readonly StepLine[] }

const line = (depth: number, pc: number, op: number, gas: number | bigint, size: number, top: bigint, second: bigint): StepLine =>
  `depth ${depth} pc ${pc} op ${op.toString(16)} gas ${gas} words ${size} ${top.toString(16)} ${second.toString(16)}`

/** The traced build with a listener that writes a line for each step. */
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

/** Keeps the steps of the oracle, and tells another watch too. */
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

/** What we tell and the oracle does not: the STOP behind the end of code, and a REVERT that lacks words. */
const isOursAlone = (step: StepLine): boolean => / op 0 | op fd gas \d+ words [01] /.test(step)

/** The first step that is another, for a person. */
export function differenceOfSteps(ours: readonly StepLine[], oracle: readonly StepLine[]): string | undefined {
  let at = 0
  for (const step of ours) {
    if (step === oracle[at]) at++
    else if (at >= mostSteps) return undefined
    else if (!isOursAlone(step)) return `step ${at}: ${step} and ${oracle[at] ?? 'none'}`
  }
  return at < oracle.length && ours.length < mostSteps ? `step ${at}: none and ${oracle[at]}` : undefined
}

import { Buffer } from 'node:buffer'
import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import type { Address } from '#types/ids'
import type { FrameEnd, FrameKind, FrameStart, TraceJson, Tracer, TraceStep } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { errorOf } from './frameErrors.ts'
import { noEvents } from './noEvents.ts'
import { opcode, opcodeName } from './opcodeNames.ts'
import { countOf, switchesOf } from './tracerConfig.ts'

/** A step of the result; fields known only later are filled in later. */
type StructLog = {
  readonly pc: number
  readonly op: string
  readonly gas: number
  gasCost: number
  readonly depth: number
  stack?: readonly string[]
  returnData?: string
  memory?: readonly string[]
  storage?: Readonly<Record<string, string>>
  refund?: number
  error?: string
}

/** A step whose gas and result are not known yet. */
type Waiting = {
  readonly log: StructLog
  readonly op: number
  readonly gas: number
  readonly staticCost: number
  /** Gas that a frame started by the step returned or took. */
  returned: number
  /** The slot of an SLOAD. */
  readonly slot: string | undefined
}

type Frame = {
  readonly kind: FrameKind
  readonly gas: number
  readonly self: Address
  waiting: Waiting | undefined
}

/** Approximate JSON size of a step without its variable parts, in characters. */
const stepBytes = 90
const wholeStack = 1_024
const codeByteGas = 200
const wordBytes = 32

const bareHex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
const wordHex = (value: bigint): string => toHex(bytesFromBigint(value, wordBytes))

function wordsOf(memory: Uint8Array): readonly string[] {
  const all = bareHex(memory)
  return Array.from({ length: memory.length / wordBytes }, (_, i) => `0x${all.slice(2 * wordBytes * i, 2 * wordBytes * (i + 1))}`)
}

function stackOf(step: TraceStep): readonly string[] {
  const size = step.stackSize
  return Array.from({ length: size }, (_, i) => step.stackHex(size - 1 - i))
}

/** SLOAD and SSTORE need two stack words. */
function stackWordsOf({ disableStack, disableStorage }: { readonly disableStack: boolean; readonly disableStorage: boolean }): number {
  if (!disableStack) return wholeStack
  return disableStorage ? 0 : 2
}

/** Returns the gas at a frame's end, so that the cost of deployed code is not attributed to its last opcode. */
function gasAtEnd({ kind, gas }: Frame, { gasUsed, output, end }: FrameEnd): number {
  const isDeployed = (kind === 'CREATE' || kind === 'CREATE2') && end === 'success'
  return gas - gasUsed + (isDeployed ? codeByteGas * output.length : 0)
}

/** Opcodes after which a frame can still fail, because of the code it returned. */
const endsFrame = (op: number): boolean => op === opcode.stop || op === opcode.return

/**
 * Creates a tracer that returns every step: opcode, gas, gas cost and, as requested, stack, memory, return data, and at SLOAD and SSTORE the slots
 * that
 * the contract has used so far. Words of memory and storage begin with 0x, as in execution-apis; older clients omit it.
 * @param config `disableStack`, `disableStorage`, `enableMemory`, `enableReturnData`; `limit`: maximum number of steps, 0 for no limit; `debug` is
 * ignored
 * @throws Fault INVALID_TRACER_CONFIG
 * @see go-ethereum documentation, "Built-in tracers", struct logger
 */
export function createStructLogTracer(config: unknown, budget: Budget): Tracer {
  const names = ['disableStack', 'disableStorage', 'enableMemory', 'enableReturnData', 'debug'] as const
  const wants = switchesOf('struct logs', config, names)
  const limit = countOf('struct logs', config, 'limit')
  const logs: StructLog[] = []
  const frames: Frame[] = []
  const storages = new Map<Address, Map<string, string>>()
  const outcome = { gas: 0, failed: false, returnValue: '0x' }

  const storageOf = (self: Address, slot: string, value: string): Readonly<Record<string, string>> => {
    const slots = storages.get(self) ?? new Map<string, string>()
    storages.set(self, slots.set(slot, value))
    budget.take(2 * (slot.length + value.length) * slots.size)
    return Object.fromEntries(slots)
  }

  /** Fills in the fields of the previous step that the next step of the frame reveals. */
  const settle = (frame: Frame, step: TraceStep): void => {
    const { waiting } = frame
    if (waiting === undefined) return
    waiting.log.gasCost = waiting.gas + waiting.returned - step.gas
    if (waiting.slot !== undefined) waiting.log.storage = storageOf(frame.self, waiting.slot, wordHex(step.stack(0)))
  }

  const settleLast = (frame: Frame, end: FrameEnd): void => {
    const { waiting } = frame
    if (waiting === undefined) return
    const error = endsFrame(waiting.op) ? undefined : errorOf(end)
    const isHalt = end.end !== 'success' && end.end !== 'revert'
    waiting.log.gasCost = isHalt ? waiting.staticCost : waiting.gas + waiting.returned - gasAtEnd(frame, end)
    if (isHalt && error !== undefined) waiting.log.error = error
  }

  const logOf = (step: TraceStep): StructLog => {
    const { pc, op, gas, staticCost, depth, refund } = step
    const log: StructLog = { pc, op: opcodeName(op), gas, gasCost: staticCost, depth: depth + 1 }
    budget.take(stepBytes)
    if (!wants.disableStack) {
      log.stack = stackOf(step)
      for (const word of log.stack) budget.take(word.length + 3)
    }
    if (wants.enableReturnData) {
      log.returnData = toHex(step.returnData())
      budget.take(log.returnData.length)
    }
    if (wants.enableMemory) {
      const memory = step.memory()
      budget.take((memory.length / wordBytes) * (2 * wordBytes + 5))
      log.memory = wordsOf(memory)
    }
    if (refund > 0) log.refund = refund
    return log
  }

  const waitingOf = (frame: Frame, step: TraceStep, log: StructLog): Waiting => {
    const { op, gas, staticCost, stackSize } = step
    const isStorage = !wants.disableStorage && (op === opcode.sload || op === opcode.sstore) && stackSize > 0
    const slot = isStorage ? wordHex(step.stack(0)) : undefined
    if (slot !== undefined && op === opcode.sstore && stackSize > 1) log.storage = storageOf(frame.self, slot, wordHex(step.stack(1)))
    return { log, op, gas, staticCost, returned: 0, slot: op === opcode.sload ? slot : undefined }
  }

  return {
    ...noEvents,
    needs: {
      ...{ frames: true, logs: false, accounts: false },
      steps: {
        ops: 'all',
        stackWords: stackWordsOf(wants),
        memory: wants.enableMemory,
        returnData: wants.enableReturnData,
      },
    },
    begin(): void {},
    onEnter({ kind, gas, self }: FrameStart): void {
      frames.push({ kind, gas, self, waiting: undefined })
    },
    onStep(step: TraceStep): void {
      const frame = frames.at(-1)
      if (frame === undefined) throw new RangeError('a step outside of a frame')
      settle(frame, step)
      frame.waiting = undefined
      if (limit > 0 && logs.length >= limit) return
      const log = logOf(step)
      logs.push(log)
      frame.waiting = waitingOf(frame, step, log)
    },
    onLeave(end: FrameEnd): void {
      const frame = frames.pop()
      if (frame === undefined) throw new RangeError('a frame ends that did not begin')
      settleLast(frame, end)
      const caller = frames.at(-1)
      if (caller?.waiting !== undefined) caller.waiting.returned += returnedBy(frame, end)
      const hasOutput = end.end === 'success' || end.end === 'revert'
      if (end.depth === 0) Object.assign(outcome, { returnValue: hasOutput ? toHex(end.output) : '0x' })
    },
    end({ gasUsed, succeeded }): void {
      Object.assign(outcome, { gas: gasUsed, failed: !succeeded })
    },
    result: () => ({ ...outcome, structLogs: logs as readonly TraceJson[] }),
  }
}

/** Returns the gas correction for an ended frame: a call's gas cost includes the gas it passed on, a creation's does not. */
function returnedBy({ kind, gas }: Frame, { gasUsed }: FrameEnd): number {
  if (kind === 'SELFDESTRUCT') return 0
  return kind === 'CREATE' || kind === 'CREATE2' ? -gasUsed : gas - gasUsed
}

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

/** A step as it is answered; what shows only later is filled in later. */
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

/** A step whose price and result are not known yet. */
type Waiting = {
  readonly log: StructLog
  readonly op: number
  readonly gas: number
  readonly staticCost: number
  /** gas that came back, or was taken, by a frame that the step began */
  returned: number
  /** of an SLOAD: the slot */
  readonly slot: string | undefined
}

type Frame = {
  readonly kind: FrameKind
  readonly gas: number
  readonly self: Address
  waiting: Waiting | undefined
}

/** Characters of a step in JSON without what varies; about. */
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

/** SLOAD and SSTORE need two. */
function stackWordsOf({ disableStack, disableStorage }: { readonly disableStack: boolean; readonly disableStorage: boolean }): number {
  if (!disableStack) return wholeStack
  return disableStorage ? 0 : 2
}

/** A creation's price of its code is not the price of its last opcode. */
function gasAtEnd({ kind, gas }: Frame, { gasUsed, output, end }: FrameEnd): number {
  const isDeployed = (kind === 'CREATE' || kind === 'CREATE2') && end === 'success'
  return gas - gasUsed + (isDeployed ? codeByteGas * output.length : 0)
}

/** A frame may also fail after its last opcode, over the code that it returned. */
const endsFrame = (op: number): boolean => op === opcode.stop || op === opcode.return

/**
 * Every step: opcode, gas, price, and as asked stack, memory, return data, and at SLOAD and SSTORE the slots that its contract has used so far.
 * Words of memory and storage begin with 0x, as execution-apis has them; older clients leave it out.
 * @param config `disableStack`, `disableStorage`, `enableMemory`, `enableReturnData`; `limit`: steps at most, 0 for no limit; `debug` does nothing
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

  /** Fills in what the next step of a frame shows of the one before. */
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

/** What a frame gave back to its caller on top of what the caller keeps; a call's price counts the gas that it gave away, a creation's does not. */
function returnedBy({ kind, gas }: Frame, { gasUsed }: FrameEnd): number {
  if (kind === 'SELFDESTRUCT') return 0
  return kind === 'CREATE' || kind === 'CREATE2' ? -gasUsed : gas - gasUsed
}

import {
  ctxTraceOps,
  ctxTraceWords,
  enterDepth,
  enterFrom,
  enterGas,
  enterInput,
  enterInputSize,
  enterKind,
  enterSelf,
  enterTo,
  enterValue,
  leaveDepth,
  leaveEnded,
  leaveGasUsed,
  leaveOpcode,
  leaveOutput,
  leaveOutputSize,
  stepDepth,
  stepGas,
  stepHeadBytes,
  stepMemory,
  stepMemorySize,
  stepOp,
  stepPc,
  stepRefund,
  stepStackSize,
  stepStaticCost,
  stepWords,
  traceFrames,
  traceSteps,
  traceStops,
} from '../wasm/traceLayout'
import { pushAddress } from './addresses'
import { codeBytes, codeSize } from './code'
import { frameCode, frameFloor, frameMemory, frameMemorySize, goOn } from './internal'
import {
  ctxFrames,
  ctxRefund,
  ctxReserve,
  ctxStepsTop,
  ctxTraceMode,
  endedOutOfGas,
  exitEnter,
  exitLeave,
  exitSteps,
  ioBase,
  stepsEnd,
} from './layout'
import { gasOf, noOpcode, rowOf } from './opcodes'
import { copyWord } from './word/word'

/** Reports of the traced build to its host; see ../wasm/traceLayout.ts. The plain build contains none of this. */

let lastOpcode: u32 = 0
let entersQueued = false
let leavesQueued = false
const enter: usize = memory.data(152)
const leave: usize = memory.data(32)

export function forgetTrace(): void {
  entersQueued = false
  leavesQueued = false
}

function tellsFrames(): bool {
  return (load<u32>(ctxTraceMode) & traceFrames) !== 0
}

/** Queues the start of a call or creation. @param from, to, self entries of accounts @param value a word */
export function queueEnter(kind: u32, depth: u32, gas: u64, from: usize, to: usize, self: usize, value: usize, input: u32, size: u32): void {
  if (!tellsFrames()) return
  store<u32>(enter, kind, enterKind)
  store<u32>(enter, depth, enterDepth)
  store<u64>(enter, gas, enterGas)
  pushAddress(enter + enterFrom, from)
  pushAddress(enter + enterTo, to)
  pushAddress(enter + enterSelf, self)
  copyWord(enter + enterValue, value)
  store<u32>(enter, input, enterInput)
  store<u32>(enter, size, enterInputSize)
  entersQueued = true
}

/** Queues the end of a call or creation. @param output address of `size` bytes that stay until the host has read them */
export function queueLeave(ended: i32, depth: u32, gasUsed: u64, output: usize, size: u32): void {
  if (!tellsFrames()) return
  store<u32>(leave, ended, leaveEnded)
  store<u32>(leave, depth, leaveDepth)
  store<u64>(leave, gasUsed, leaveGasUsed)
  store<u32>(leave, <u32>output, leaveOutput)
  store<u32>(leave, size, leaveOutputSize)
  store<u32>(leave, ended >= endedOutOfGas ? lastOpcode + 1 : 0, leaveOpcode)
  leavesQueued = true
}

/** Returns an exit for a queued report, starts before ends; `goOn` when none is queued. */
export function takeQueued(): i32 {
  if (entersQueued) {
    entersQueued = false
    memory.copy(ioBase, enter, 152)
    return exitEnter
  }
  if (!leavesQueued) return goOn
  leavesQueued = false
  memory.copy(ioBase, leave, 32)
  return exitLeave
}

/** Records the opcode at `pc` before it runs. @returns `goOn` once it is recorded, if requested; otherwise an exit, after which the step is repeated */
export function step(frame: usize, sp: usize, pc: u32, gas: u64): i32 {
  const code = <usize>load<u32>(frame, frameCode)
  const opcode = pc < load<u32>(code, codeSize) ? <u32>load<u8>(<usize>load<u32>(code, codeBytes) + pc) : 0
  lastOpcode = opcode
  if (!(load<u32>(ctxTraceMode) & traceSteps)) return goOn
  if (!(load<u8>(<usize>ctxTraceOps + (opcode >> 3)) & (1 << <u8>(opcode & 7)))) return goOn
  const size = <u32>(sp - <usize>load<u32>(frame, frameFloor)) >> 5
  const words = min(size, load<u32>(ctxTraceWords))
  const at = <usize>load<u32>(ctxStepsTop)
  const top = at + stepHeadBytes + (<usize>words << 5)
  if (top > <usize>stepsEnd) return exitSteps
  writeStep(at, frame, pc, opcode, gas, size, words)
  for (let i: usize = 0; i < <usize>words; i++) copyWord(at + stepHeadBytes + (i << 5), sp - (i << 5))
  store<u32>(ctxStepsTop, <u32>top)
  return goOn
}

/** Returns whether the host stops at each step before it runs. */
export function stopsAtSteps(): bool {
  return (load<u32>(ctxTraceMode) & traceStops) !== 0
}

function writeStep(at: usize, frame: usize, pc: u32, opcode: u32, gas: u64, size: u32, words: u32): void {
  const row = rowOf(opcode)
  store<u32>(at, pc, stepPc)
  store<u16>(at, <u16>opcode, stepOp)
  store<u16>(at, <u16>(load<u32>(ctxFrames) - 1), stepDepth)
  store<u64>(at, gas + load<u64>(ctxReserve), stepGas)
  store<i64>(at, load<i64>(ctxRefund), stepRefund)
  store<u32>(at, size, stepStackSize)
  store<u32>(at, load<u32>(frame, frameMemorySize), stepMemorySize)
  store<u32>(at, row === noOpcode ? 0 : gasOf(row), stepStaticCost)
  store<u32>(at, words, stepWords)
  store<u32>(at, load<u32>(frame, frameMemory), stepMemory)
}

import { codeJumps, codeStream } from './code'
import { firstBlock } from './translate'
import {
  frameBytes,
  frameCheckpoint,
  frameCode,
  frameFloor,
  frameGas,
  frameGasGiven,
  frameIp,
  frameJumps,
  frameKind,
  frameMemory,
  frameMemorySize,
  frameOutputSize,
  frameOutputTo,
  frameRefundBefore,
  frameSp,
  frameSpare,
  frameStream,
} from './internal'
import { ctxFrames, ctxGas, ctxRefund, ctxReserve, ctxReturnSize, ctxStacksHigh, framesBase, memoryBase, returnBase, returnEnd, stacksBase } from './layout'

// @ts-ignore: decorator
@inline
export function frameAt(depth: u32): usize {
  return <usize>framesBase + <usize>depth * frameBytes
}

/** Returns the running frame. */
// @ts-ignore: decorator
@inline
export function running(): usize {
  return frameAt(load<u32>(ctxFrames) - 1)
}

/**
 * Moves `given` gas from the running frame to a frame about to be pushed. The current slice moves along; the part of the slice that exceeds `given`
 * is kept in the old frame.
 */
export function handGas(frame: usize, given: u64): void {
  const slice = load<u64>(ctxGas)
  const total = slice + load<u64>(ctxReserve)
  const handed = min(slice, given)
  store<u64>(frame, total - given, frameGas)
  store<u64>(frame, slice - handed, frameSpare)
  store<u64>(ctxGas, handed)
  store<u64>(ctxReserve, given - handed)
}

/** Adds gas that no frame paid for: the call stipend. It is not part of the slice. */
export function addGas(gas: u64): void {
  store<u64>(ctxReserve, load<u64>(ctxReserve) + gas)
}

/** Returns the remaining gas to the waiting frame. */
function takeBackGas(parent: usize): void {
  const slice = load<u64>(ctxGas)
  const total = slice + load<u64>(ctxReserve) + load<u64>(parent, frameGas)
  const gas = min(total, slice + load<u64>(parent, frameSpare))
  store<u64>(ctxGas, gas)
  store<u64>(ctxReserve, total - gas)
}

/**
 * Pushes a frame with its own memory and stack. The caller fills in the remaining fields. The frame's gas is already in the context.
 * @param parent 0 for the first frame
 */
export function pushFrame(parent: usize, kind: u32, checkpoint: u32): usize {
  const frames = load<u32>(ctxFrames)
  const frame = frameAt(frames)
  memory.fill(frame, 0, frameBytes)
  const isFirst = parent === 0
  store<u32>(frame, isFirst ? memoryBase : load<u32>(parent, frameMemory) + load<u32>(parent, frameMemorySize), frameMemory)
  const floor: u32 = isFirst ? stacksBase : load<u32>(parent, frameSp)
  store<u32>(frame, floor, frameFloor)
  store<u32>(frame, floor, frameSp)
  store<u32>(frame, kind, frameKind)
  store<u32>(frame, checkpoint, frameCheckpoint)
  store<i64>(frame, load<i64>(ctxRefund), frameRefundBefore)
  if (isDefined(TRACED)) store<u64>(frame, load<u64>(ctxGas) + load<u64>(ctxReserve), frameGasGiven)
  store<u32>(ctxFrames, frames + 1)
  store<u32>(ctxReturnSize, 0)
  return frame
}

/** Sets up a frame to start a code. */
export function enterCode(frame: usize, code: usize): void {
  const stream = load<u32>(code, codeStream)
  store<u32>(frame, <u32>code, frameCode)
  store<u32>(frame, stream, frameStream)
  store<u32>(frame, stream + <u32>firstBlock, frameIp)
  store<u32>(frame, load<u32>(code, codeJumps), frameJumps)
  store<u32>(ctxStacksHigh, max(load<u32>(ctxStacksHigh), load<u32>(frame, frameFloor) + 32768))
}

/** Stores an existing range of the frame's memory as its output. */
export function keepOutput(from: usize, size: u32): void {
  if (size > <u32>(returnEnd - returnBase)) unreachable()
  if (size > 0) memory.copy(returnBase, from, size)
  store<u32>(ctxReturnSize, size)
}

/** Copies the output of a call to the memory range that the caller requested. */
function deliverOutput(frame: usize, parent: usize): void {
  const size = min(load<u32>(frame, frameOutputSize), load<u32>(ctxReturnSize))
  if (size > 0) memory.copy(<usize>load<u32>(parent, frameMemory) + <usize>load<u32>(frame, frameOutputTo), returnBase, size)
}

/** Removes a frame: its gas and, for a call, its output go to the caller. The caller still has to push the result word. */
export function popFrame(frame: usize, parent: usize, isCall: bool): void {
  takeBackGas(parent)
  if (isCall) deliverOutput(frame, parent)
}

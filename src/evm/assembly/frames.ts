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

/** The running frame. */
// @ts-ignore: decorator
@inline
export function running(): usize {
  return frameAt(load<u32>(ctxFrames) - 1)
}

/**
 * Gives `given` of the running frame's gas to a frame that is about to be pushed. The slice goes along: what of it the new frame has no gas for
 * waits with the old one.
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

/** Adds gas that comes from nobody: the stipend. It is not part of the slice. */
export function addGas(gas: u64): void {
  store<u64>(ctxReserve, load<u64>(ctxReserve) + gas)
}

/** Gives the gas that is left back to the frame that waits. */
function takeBackGas(parent: usize): void {
  const slice = load<u64>(ctxGas)
  const total = slice + load<u64>(ctxReserve) + load<u64>(parent, frameGas)
  const gas = min(total, slice + load<u64>(parent, frameSpare))
  store<u64>(ctxGas, gas)
  store<u64>(ctxReserve, total - gas)
}

/**
 * A new frame above the running one, with its memory and stack; whoever pushes fills in the rest. Its gas is in the context already.
 * @param parent 0 for the first
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

/** Lets a frame begin with a code. */
export function enterCode(frame: usize, code: usize): void {
  const stream = load<u32>(code, codeStream)
  store<u32>(frame, <u32>code, frameCode)
  store<u32>(frame, stream, frameStream)
  store<u32>(frame, stream + <u32>firstBlock, frameIp)
  store<u32>(frame, load<u32>(code, codeJumps), frameJumps)
  store<u32>(ctxStacksHigh, max(load<u32>(ctxStacksHigh), load<u32>(frame, frameFloor) + 32768))
}

/** Keeps a range of the frame's memory, which is there, as what the frame returns. */
export function keepOutput(from: usize, size: u32): void {
  if (size > <u32>(returnEnd - returnBase)) unreachable()
  if (size > 0) memory.copy(returnBase, from, size)
  store<u32>(ctxReturnSize, size)
}

/** Puts the output of a call where its caller wants it. */
function deliverOutput(frame: usize, parent: usize): void {
  const size = min(load<u32>(frame, frameOutputSize), load<u32>(ctxReturnSize))
  if (size > 0) memory.copy(<usize>load<u32>(parent, frameMemory) + <usize>load<u32>(frame, frameOutputTo), returnBase, size)
}

/** The frame is gone: its caller has its gas and, for a call, its output. The word that tells of its end is the caller's to push. */
export function popFrame(frame: usize, parent: usize, isCall: bool): void {
  takeBackGas(parent)
  if (isCall) deliverOutput(frame, parent)
}

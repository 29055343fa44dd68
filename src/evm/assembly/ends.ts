import { pushAddress } from './addresses'
import { ctxCreated, ctxEnded, ctxExitEntry, ctxExitFrom, ctxExitSize, ctxFrames, ctxGas, ctxRefund, ctxReserve, ctxReturnSize, endedCodeSize, endedInvalidCode, endedOutOfGas, endedRevert, endedSuccess, exitNewCode, returnBase } from './layout'
import { frameAt, popFrame } from './frames'
import { charge, gasLeft } from './gas'
import { queueLeave } from './trace'
import { frameCheckpoint, frameGasGiven, frameKind, frameRefundBefore, frameSelf, frameSp, gasCodeByte, kindCreate, maxCodeSize, switched } from './internal'
import { keccak256 } from './keccak'
import { revertTo, setCodeHash } from './state/state'
import { setSmall } from './word/word'

const hash: usize = memory.data(32)

/** Checks, charges for and stores the code that initcode returned (EIP-170, EIP-3541). */
function depositCode(frame: usize): i32 {
  const size = load<u32>(ctxReturnSize)
  if (size > maxCodeSize) return endedCodeSize
  if (size > 0 && load<u8>(returnBase) === 0xef) return endedInvalidCode
  if (!charge(gasCodeByte * <u64>size)) return endedOutOfGas
  keccak256(returnBase, size, hash)
  setCodeHash(<usize>load<u32>(frame, frameSelf), hash)
  return endedSuccess
}

/** Reverts a failed frame; a halt also consumes all its gas. */
function undo(frame: usize, ended: i32): void {
  if (ended !== endedRevert) {
    store<u64>(ctxGas, 0)
    store<u64>(ctxReserve, 0)
    store<u32>(ctxReturnSize, 0)
  }
  revertTo(load<u32>(frame, frameCheckpoint))
  store<i64>(ctxRefund, load<i64>(frame, frameRefundBefore))
}

/** Pushes the result of a frame for its caller: 1 or 0 for a call, the address or 0 for a creation. */
function pushEnd(parent: usize, frame: usize, isCreate: bool, ended: i32): void {
  const sp = <usize>load<u32>(parent, frameSp) + 32
  store<u32>(parent, <u32>sp, frameSp)
  if (ended !== endedSuccess || !isCreate) setSmall(sp, ended === endedSuccess ? 1 : 0)
  else pushAddress(sp, <usize>load<u32>(frame, frameSelf))
}

/** Ends the running frame with the status `ended`; its output is already stored. @returns the next step of `run` */
export function endFrame(ended: i32): i32 {
  const depth = load<u32>(ctxFrames) - 1
  const frame = frameAt(depth)
  const isCreate = load<u32>(frame, frameKind) === kindCreate
  let next = switched
  const outputSize = load<u32>(ctxReturnSize)
  if (isCreate && ended === endedSuccess) {
    const size = outputSize
    ended = depositCode(frame)
    store<u32>(ctxReturnSize, 0)
    if (ended === endedSuccess && size > 0) {
      store<u32>(ctxExitEntry, load<u32>(frame, frameSelf))
      store<u32>(ctxExitFrom, returnBase)
      store<u32>(ctxExitSize, size)
      next = exitNewCode
    }
  }
  if (ended !== endedSuccess) undo(frame, ended)
  if (isDefined(TRACED)) {
    // after a creation the deployed code is still at the output address; a halt has no output
    const shown = ended === endedSuccess ? outputSize : load<u32>(ctxReturnSize)
    queueLeave(ended, depth, load<u64>(frame, frameGasGiven) - gasLeft(), returnBase, shown)
  }
  store<u32>(ctxFrames, depth)
  if (depth === 0) {
    store<u32>(ctxEnded, ended)
    store<u32>(ctxCreated, isCreate && ended === endedSuccess ? load<u32>(frame, frameSelf) : 0)
    return next
  }
  const parent = frameAt(depth - 1)
  popFrame(frame, parent, !isCreate)
  pushEnd(parent, frame, isCreate, ended)
  return next
}

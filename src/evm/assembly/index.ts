// Exports of the interpreter to the host.
import { beginMessageCall } from './calls'
import { beginMessageCreate } from './create'
import { endFrame } from './ends'
import { charge, gasLeft } from './gas'
import { frameEnds, sliceGas, switched } from './internal'
import {
  ctxCreated,
  ctxEnded,
  ctxFork,
  ctxFrames,
  ctxGas,
  ctxMessageCaller,
  ctxMessageGas,
  ctxMessageInputSize,
  ctxMessageIsCreate,
  ctxMessageTo,
  ctxMessageValue,
  ctxReserve,
  ctxReturnSize,
  endedCollision,
  endedOutOfGas,
  endedPrecompileFailure,
  endedSuccess,
  exitAccount,
  exitCode,
  exitEnded,
  inputBase,
} from './layout'
import { keepCodesOf } from './code'
import { forgetBlockHash } from './environment'
import { completeNative } from './natives'
import { openOpcodes } from './opcodes'
import { run as runFrames } from './run'
import { forgetTrace, queueLeave } from './trace'

export { allocateCode, finishCode } from './code'
export { setBlockHash } from './environment'
export { keccak256 } from './keccak'
export { accessNative, loadNative, logNative, moveNative, restartNative, storeNative } from './natives'
export {
  accountAt,
  beginTransaction,
  checkpoint,
  covers,
  credit,
  debit,
  endTransaction,
  hashSlot,
  hasNoCode,
  loadSlot,
  nextChangedAccount,
  nextChangedSlot,
  openSession,
  revertTo,
  setCodeHash,
  setNonce,
  setSlot,
  slotOf,
  stateBytesTouched,
  tableBytes,
  warm,
  warmSlot,
} from './state/state'

/** Selects the rules of the session's fork: the opcode table and the code translated under these rules. */
export function openCodes(): void {
  openOpcodes(load<u32>(ctxFork))
  keepCodesOf(load<u32>(ctxFork))
  forgetBlockHash()
}

/** Whether the message has yet to start, because data was requested first. */
let isBeginning: bool = false

/** Starts the message in the context. @returns an exit, as `run` does */
export function begin(): i32 {
  store<u32>(ctxFrames, 0)
  if (isDefined(TRACED)) forgetTrace()
  isBeginning = true
  return run()
}

function beginMessage(): i32 {
  const gas = load<u64>(ctxMessageGas)
  const slice = min(gas, sliceGas)
  store<u64>(ctxGas, slice)
  store<u64>(ctxReserve, gas - slice)
  store<u32>(ctxReturnSize, 0)
  store<u32>(ctxCreated, 0)
  const size = load<u32>(ctxMessageInputSize)
  return load<u32>(ctxMessageIsCreate) !== 0
    ? beginMessageCreate(ctxMessageCaller, ctxMessageValue, inputBase, size)
    : beginMessageCall(ctxMessageCaller, ctxMessageTo, ctxMessageValue, inputBase, size)
}

/** Runs until the host is needed. @returns one of `exit…` of layout.ts */
export function run(): i32 {
  if (!isBeginning) return runFrames()
  const status = beginMessage()
  if (status === exitAccount || status === exitCode) return status
  isBeginning = false
  if (status === switched) return runFrames()
  if (status < frameEnds) return status
  if (status === frameEnds + endedCollision) {
    store<u64>(ctxGas, 0)
    store<u64>(ctxReserve, 0)
  }
  store<u32>(ctxEnded, status - frameEnds)
  if (!isDefined(TRACED)) return exitEnded
  queueLeave(status - frameEnds, 0, load<u64>(ctxMessageGas) - gasLeft(), 0, 0)
  return runFrames()
}

/**
 * Completes the precompile that the host ran; its output is at `returnBase`. The host then calls `run`.
 * @param ok 0: the precompile failed, which consumes all gas of the call
 * @param cost gas
 */
export function endPrecompile(ok: u32, outputSize: u32, cost: u64): void {
  store<u32>(ctxReturnSize, outputSize)
  endFrame(ok === 0 ? endedPrecompileFailure : charge(cost) ? endedSuccess : endedOutOfGas)
}

/** Completes the native frame as `completeNative` does, and runs on. @returns an exit, as `run` does */
export function endNative(ended: i32, outputSize: u32, owed: u32): i32 {
  completeNative(ended, outputSize, owed)
  return runFrames()
}

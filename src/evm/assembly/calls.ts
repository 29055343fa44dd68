import { codeOf, delegateOf } from './code'
import { addGas, enterCode, handGas, pushFrame } from './frames'
import { charge, gasLeft } from './gas'
import {
  frameCaller,
  frameCodeAccount,
  frameEnds,
  frameGasGiven,
  frameInput,
  frameInputSize,
  frameIp,
  frameIsStatic,
  frameMemory,
  frameNativeFlags,
  frameOutputSize,
  frameOutputTo,
  frameSelf,
  frameSp,
  frameValue,
  gasCallStipend,
  gasCallValue,
  gasColdAccount,
  gasNewAccount,
  gasWarm,
  goOn,
  kindCall,
  kindNative,
  kindPrecompile,
  maxDepth,
  switched,
} from './internal'
import {
  accountBalance,
  accountPrecompile,
  ctxExitEntry,
  ctxExitFrom,
  ctxExitId,
  ctxExitSize,
  ctxFrames,
  ctxPrecompiles,
  ctxReturnSize,
  endedCallDepth,
  endedInsufficientBalance,
  endedOutOfGas,
  endedSuccess,
  endedWriteProtection,
  exitAccount,
  exitCode,
  exitPrecompile,
  nativeBorrowedFlag,
  nativeStaticFlag,
  nativeValueFlag,
} from './layout'
import { expandMemory, memoryCost, rangeEnd, unpayable } from './memory'
import { accountAt, accountOf, checkpoint, hasNoCode, isEmpty, isLoaded, isWarm, nativeNumber, transfer, warm, warmAccountOf } from './state/state'
import { exitToNative } from './natives'
import { queueEnter, queueLeave } from './trace'
import { compare, copyWord, isZero, setSmall, toU32Clamped } from './word/word'
import { pushAddress } from './addresses'

const zeroWord: usize = memory.data(32)

/** Returns an exit to the host that requests data of an account. */
export function exitFor(exit: i32, entry: usize): i32 {
  store<u32>(ctxExitEntry, <u32>entry)
  return exit
}

/** Returns the number of the precompile at an account's address; 0 when there is none. */
function precompileAt(account: usize): u32 {
  const low = load<u64>(account)
  if ((load<u64>(account, 8) | <u64>load<u32>(account, 16)) !== 0 || low >= 0x400) return load<u32>(account, accountPrecompile)
  return load<u8>(<usize>ctxPrecompiles + <usize>(low >> 3)) & (1 << <u8>(low & 7)) ? <u32>low : 0
}

/** Returns the number of the native contract at a word's address; 0 when there is none. */
// @ts-ignore: decorator
@inline
function nativeAt(word: usize): u32 {
  return nativeNumber(load<u64>(word), load<u64>(word, 8), load<u32>(word, 16))
}

// results of preparing a call; valid until the next exit
let target: usize = 0
/** Entry of the code to run; 0: none. */
let code: usize = 0
let delegate: usize = 0
/** Number of the native contract to run; 0: none. */
let native: u32 = 0
/** Gas of the call: memory, account access, delegate access, value and new-account charges. */
let cost: u64 = 0

/**
 * Finds the code that a call of `account` runs. An account with a delegation runs its delegate's code (EIP-7702). Sets `code`, and adds the gas of
 * accessing the delegate to `cost`. Requests data from the host only after checking that the gas suffices. @returns `goOn` or an exit
 */
function findCode(account: usize, isPaid: bool): i32 {
  code = 0
  delegate = 0
  native = nativeAt(account)
  if (native !== 0 || hasNoCode(account)) return goOn
  const own = codeOf(account)
  if (own === 0) return exitFor(exitCode, account)
  code = own
  const bytes = delegateOf(own)
  if (bytes === 0) return goOn
  delegate = accountAt(bytes)
  if (isPaid) {
    // an account that delegates to itself is already warm
    cost += delegate === account || isWarm(delegate) ? gasWarm : gasColdAccount
    if (cost > gasLeft()) return frameEnds + endedOutOfGas
  }
  if (!isLoaded(delegate)) return exitFor(exitAccount, delegate)
  if (hasNoCode(delegate)) {
    code = 0
    return goOn
  }
  code = codeOf(delegate)
  return code === 0 ? exitFor(exitCode, delegate) : goOn
}

export const callKindCall: u32 = 0
export const callKindCallcode: u32 = 1
export const callKindDelegate: u32 = 2
export const callKindStatic: u32 = 3

/** Executes CALL, CALLCODE, DELEGATECALL and STATICCALL. Changes nothing before all requested data is present, so it can restart after an exit. */
export function call(frame: usize, sp: usize, kind: u32, nextIp: usize): i32 {
  const hasValue = kind <= callKindCallcode
  const value = hasValue ? sp - 64 : zeroWord
  const range = hasValue ? sp - 96 : sp - 64
  const movesValue = hasValue && !isZero(value)
  if (kind === callKindCall && movesValue && load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  const inputEnd = rangeEnd(range, range - 32)
  const outputEnd = rangeEnd(range - 64, range - 96)
  const end = max(inputEnd, outputEnd)
  cost = memoryCost(frame, end)
  if (cost >= unpayable) return frameEnds + endedOutOfGas
  const known = warmAccountOf(sp - 32)
  cost += (known !== 0 ? gasWarm : gasColdAccount) + (movesValue ? gasCallValue : 0)
  if (cost > gasLeft()) return frameEnds + endedOutOfGas
  target = known !== 0 ? known : accountOf(sp - 32)
  if (!isLoaded(target)) return exitFor(exitAccount, target)
  if (kind === callKindCall && movesValue && isEmpty(target)) {
    cost += gasNewAccount
    if (cost > gasLeft()) return frameEnds + endedOutOfGas
  }
  const found = findCode(target, true)
  if (found !== goOn) return found
  charge(cost)
  expandMemory(frame, end)
  warm(target)
  if (delegate !== 0) warm(delegate)
  return beginCall(frame, sp, kind, movesValue, value, range, nextIp)
}

/** Returns the gas a call receives: the requested gas, at most all but a 64th of the gas left (EIP-150). */
export function gasFor(wanted: usize): u64 {
  const left = gasLeft()
  const most = left - left / 64
  const isSmall = (load<u64>(wanted, 8) | load<u64>(wanted, 16) | load<u64>(wanted, 24)) === 0
  return isSmall ? min(load<u64>(wanted), most) : most
}

function beginCall(frame: usize, sp: usize, kind: u32, movesValue: bool, value: usize, range: usize, nextIp: usize): i32 {
  const given = gasFor(sp)
  const self = <usize>load<u32>(frame, frameSelf)
  // drop the operands of the call; the last one lies at range - 96
  store<u32>(frame, <u32>(range - 128), frameSp)
  store<u32>(frame, <u32>nextIp, frameIp)
  const isRefused = load<u32>(ctxFrames) > maxDepth || (movesValue && compare(self + accountBalance, value) < 0)
  const precompile = precompileAt(target)
  if (isRefused || (code === 0 && precompile === 0 && native === 0)) {
    if (isDefined(TRACED)) {
      const stipend = movesValue ? gasCallStipend : 0
      tellEnter(frame, kind, load<u32>(ctxFrames), given + stipend, range)
      queueLeave(refusedOr(isRefused), load<u32>(ctxFrames), 0, 0, 0)
    }
    if (!isRefused && kind !== callKindDelegate) transfer(self, kind === callKindCallcode ? self : target, value)
    endAtOnce(frame, range, isRefused, movesValue)
    return switched
  }
  const saved = checkpoint()
  if (kind !== callKindDelegate) transfer(self, kind === callKindCallcode ? self : target, value)
  handGas(frame, given)
  if (movesValue) addGas(gasCallStipend)
  const next = pushFrame(frame, kindOf(precompile), saved)
  const inputSize = toU32Clamped(range - 32)
  const input = inputSize === 0 ? 0 : load<u32>(frame, frameMemory) + toU32Clamped(range)
  store<u32>(next, input, frameInput)
  store<u32>(next, inputSize, frameInputSize)
  store<u32>(next, toU32Clamped(range - 64), frameOutputTo)
  store<u32>(next, toU32Clamped(range - 96), frameOutputSize)
  if (isDefined(TRACED)) tellEnter(frame, kind, load<u32>(ctxFrames) - 1, load<u64>(next, frameGasGiven), range)
  if (precompile !== 0) return waitForPrecompile(next, precompile)
  setRoles(next, frame, kind, self, value)
  if (native !== 0) {
    const isBorrowed = kind === callKindCallcode || kind === callKindDelegate
    return waitForNative(next, isBorrowed ? nativeBorrowedFlag : 0)
  }
  store<u32>(next, <u32>(delegate !== 0 ? delegate : target), frameCodeAccount)
  enterCode(next, code)
  return switched
}

function kindOf(precompile: u32): u32 {
  if (precompile !== 0) return kindPrecompile
  return native !== 0 ? kindNative : kindCall
}

/** Waits for the host to run a native contract. Its account is the called one, also where the frame would use the caller's storage. */
function waitForNative(frame: usize, borrowed: u32): i32 {
  let flags = borrowed
  if (load<u32>(frame, frameIsStatic) !== 0) flags |= nativeStaticFlag
  if (!isZero(frame + frameValue)) flags |= nativeValueFlag
  store<u32>(frame, flags, frameNativeFlags)
  store<u32>(frame, native, frameCodeAccount)
  store<u32>(frame, <u32>target, frameSelf)
  if (isDefined(TRACED)) return switched
  return exitToNative(frame)
}

/** Sets caller, value and storage account of the new frame. DELEGATECALL keeps the caller and value; CALLCODE runs on the caller's storage. */
function setRoles(next: usize, frame: usize, kind: u32, self: usize, value: usize): void {
  const isStatic = kind === callKindStatic ? 1 : load<u32>(frame, frameIsStatic)
  store<u32>(next, isStatic, frameIsStatic)
  if (kind === callKindDelegate) {
    store<u32>(next, <u32>self, frameSelf)
    copyWord(next + frameCaller, frame + frameCaller)
    copyWord(next + frameValue, frame + frameValue)
    return
  }
  store<u32>(next, <u32>(kind === callKindCallcode ? self : target), frameSelf)
  pushAddress(next + frameCaller, self)
  copyWord(next + frameValue, value)
}

/** Ends a call that needs no frame: a refused call, whose gas is returned, or a call of an account without code. The stipend goes to the caller. */
function endAtOnce(frame: usize, range: usize, isRefused: bool, movesValue: bool): void {
  if (movesValue) addGas(gasCallStipend)
  store<u32>(ctxReturnSize, 0)
  const top = range - 96
  setSmall(top, isRefused ? 0 : 1)
  store<u32>(frame, <u32>top, frameSp)
}

/** Waits for the host to run a precompile, as a frame of kind `kindPrecompile`. The traced build reports its start first. */
function waitForPrecompile(frame: usize, precompile: u32): i32 {
  store<u32>(frame, precompile, frameCodeAccount)
  store<u32>(frame, <u32>target, frameSelf)
  if (isDefined(TRACED)) return switched
  return exitToPrecompile(frame)
}

export function exitToPrecompile(frame: usize): i32 {
  store<u32>(ctxExitId, load<u32>(frame, frameCodeAccount))
  store<u32>(ctxExitFrom, load<u32>(frame, frameInput))
  store<u32>(ctxExitSize, load<u32>(frame, frameInputSize))
  return exitPrecompile
}

/** Reports the start of a call (traced build). @param range stack pointer of the input offset */
function tellEnter(frame: usize, kind: u32, depth: u32, gas: u64, range: usize): void {
  const self = <usize>load<u32>(frame, frameSelf)
  const isForSelf = kind === callKindDelegate || kind === callKindCallcode
  const value = kind === callKindDelegate ? frame + frameValue : kind === callKindStatic ? zeroWord : range + 32
  const size = toU32Clamped(range - 32)
  const input = size === 0 ? 0 : load<u32>(frame, frameMemory) + toU32Clamped(range)
  queueEnter(kind, depth, gas, self, target, isForSelf ? self : target, value, input, size)
}

function refusedOr(isRefused: bool): i32 {
  if (!isRefused) return endedSuccess
  return load<u32>(ctxFrames) > maxDepth ? endedCallDepth : endedInsufficientBalance
}

/** Starts a message call from the host at depth 0, whose gas is paid and account warm. @returns an exit, or `switched` when a frame runs */
export function beginMessageCall(caller: usize, to: usize, value: usize, input: usize, inputSize: u32): i32 {
  target = accountOf(to)
  const payer = accountOf(caller)
  if (!isLoaded(payer)) return exitFor(exitAccount, payer)
  if (!isLoaded(target)) return exitFor(exitAccount, target)
  warm(target)
  const found = findCode(target, false)
  if (found !== goOn) return found
  if (delegate !== 0) warm(delegate)
  if (isDefined(TRACED)) queueEnter(callKindCall, 0, gasLeft(), payer, target, target, value, <u32>input, inputSize)
  if (compare(payer + accountBalance, value) < 0) return frameEnds + endedInsufficientBalance
  const saved = checkpoint()
  transfer(payer, target, value)
  const precompile = precompileAt(target)
  if (code === 0 && precompile === 0 && native === 0) return frameEnds
  const next = pushFrame(0, kindOf(precompile), saved)
  store<u32>(next, <u32>input, frameInput)
  store<u32>(next, inputSize, frameInputSize)
  if (precompile !== 0) return waitForPrecompile(next, precompile)
  store<u32>(next, <u32>target, frameSelf)
  copyWord(next + frameCaller, caller)
  copyWord(next + frameValue, value)
  if (native !== 0) return waitForNative(next, 0)
  store<u32>(next, <u32>(delegate !== 0 ? delegate : target), frameCodeAccount)
  enterCode(next, code)
  return switched
}

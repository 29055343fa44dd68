import { exitFor } from './calls'
import { codeBytes, codeOf, codeSize } from './code'
import { charge, gasLeft, perWord } from './gas'
import { frameCode, frameEnds, frameInput, frameInputSize, frameMemory, gasColdAccount, gasCopyWord, gasWarm, goOn } from './internal'
import {
  accountBalance,
  accountCodeHash,
  ctxBlobHashCount,
  ctxBlobHashes,
  ctxExitId,
  ctxNumber,
  ctxReturnSize,
  endedOutOfGas,
  endedReturnDataBounds,
  exitAccount,
  exitBlockHash,
  exitCode,
  ioBase,
  returnBase,
} from './layout'
import { copyPadded, expandMemory, memoryCost, rangeEnd, unpayable } from './memory'
import { accountOf, hasNoCode, isEmpty, isLoaded, warm, warmAccountOf } from './state/state'
import { copyWord, loadBig, setSmall, toU32Clamped, zero } from './word/word'

let accessed: i32 = goOn
let accessPrice: u64 = 0

/**
 * Returns the entry of an account whose access, plus `extra`, can be paid and whose data is loaded; then `accessed` is `goOn`. Otherwise `accessed`
 * is the
 * status to return. An access that cannot be paid creates no entry.
 */
function access(word: usize, extra: u64): usize {
  const known = warmAccountOf(word)
  accessPrice = (known !== 0 ? gasWarm : gasColdAccount) + extra
  accessed = frameEnds + endedOutOfGas
  if (accessPrice > gasLeft()) return 0
  const account = known !== 0 ? known : accountOf(word)
  accessed = isLoaded(account) ? goOn : exitFor(exitAccount, account)
  return account
}

/** Charges for an access, once all requested data is present. */
function payAccess(account: usize): void {
  charge(accessPrice)
  warm(account)
}

export function balance(sp: usize): i32 {
  const account = access(sp, 0)
  if (accessed !== goOn) return accessed
  payAccess(account)
  copyWord(sp, account + accountBalance)
  return goOn
}

/** EXTCODEHASH (EIP-1052): zero for an account that does not exist or is empty. */
export function extcodehash(sp: usize): i32 {
  const account = access(sp, 0)
  if (accessed !== goOn) return accessed
  payAccess(account)
  if (isEmpty(account)) zero(sp)
  else loadBig(sp, account + accountCodeHash)
  return goOn
}

export function extcodesize(sp: usize): i32 {
  const account = access(sp, 0)
  if (accessed !== goOn) return accessed
  const code = hasNoCode(account) ? <usize>0 : codeOf(account)
  if (code === 0 && !hasNoCode(account)) return exitFor(exitCode, account)
  payAccess(account)
  setSmall(sp, code === 0 ? 0 : <u64>load<u32>(code, codeSize))
  return goOn
}

export function extcodecopy(frame: usize, sp: usize): i32 {
  const size = toU32Clamped(sp - 96)
  const end = rangeEnd(sp - 32, sp - 96)
  const memoryPrice = memoryCost(frame, end)
  if (memoryPrice >= unpayable) return frameEnds + endedOutOfGas
  const extra = memoryPrice + perWord(size, gasCopyWord)
  const account = access(sp, extra)
  if (accessed !== goOn) return accessed
  const code = hasNoCode(account) ? <usize>0 : codeOf(account)
  if (code === 0 && !hasNoCode(account)) return exitFor(exitCode, account)
  payAccess(account)
  expandMemory(frame, end)
  if (size === 0) return goOn
  const to = <usize>load<u32>(frame, frameMemory) + toU32Clamped(sp - 32)
  if (code === 0) memory.fill(to, 0, size)
  else copyPadded(to, <usize>load<u32>(code, codeBytes), load<u32>(code, codeSize), toU32Clamped(sp - 64), size)
  return goOn
}

/** Charges for a copy with operands sp (target), sp − 32 (source), sp − 64 (size), including memory expansion. */
function payCopy(frame: usize, sp: usize): bool {
  const end = rangeEnd(sp, sp - 64)
  const price = memoryCost(frame, end)
  if (price >= unpayable || !charge(price + perWord(toU32Clamped(sp - 64), gasCopyWord))) return false
  expandMemory(frame, end)
  return true
}

function copyFrom(frame: usize, sp: usize, source: usize, length: u32): i32 {
  if (!payCopy(frame, sp)) return frameEnds + endedOutOfGas
  const size = toU32Clamped(sp - 64)
  if (size > 0) copyPadded(<usize>load<u32>(frame, frameMemory) + toU32Clamped(sp), source, length, toU32Clamped(sp - 32), size)
  return goOn
}

export function calldatacopy(frame: usize, sp: usize): i32 {
  return copyFrom(frame, sp, <usize>load<u32>(frame, frameInput), load<u32>(frame, frameInputSize))
}

export function codecopy(frame: usize, sp: usize): i32 {
  const code = <usize>load<u32>(frame, frameCode)
  return copyFrom(frame, sp, <usize>load<u32>(code, codeBytes), load<u32>(code, codeSize))
}

/** RETURNDATACOPY (EIP-211): the only copy that must not read past the end. */
export function returndatacopy(frame: usize, sp: usize): i32 {
  const size = load<u32>(ctxReturnSize)
  if (<u64>toU32Clamped(sp - 32) + <u64>toU32Clamped(sp - 64) > <u64>size) return frameEnds + endedReturnDataBounds
  return copyFrom(frame, sp, returnBase, size)
}

/** MCOPY; EIP-5656. */
export function mcopy(frame: usize, sp: usize): i32 {
  const size = toU32Clamped(sp - 64)
  const end = max(rangeEnd(sp, sp - 64), rangeEnd(sp - 32, sp - 64))
  const price = memoryCost(frame, end)
  if (price >= unpayable || !charge(price + perWord(size, gasCopyWord))) return frameEnds + endedOutOfGas
  expandMemory(frame, end)
  const base = <usize>load<u32>(frame, frameMemory)
  if (size > 0) memory.copy(base + toU32Clamped(sp), base + toU32Clamped(sp - 32), size)
  return goOn
}

const scratch: usize = memory.data(32)

export function calldataload(frame: usize, sp: usize): void {
  const size = load<u32>(frame, frameInputSize)
  const from = toU32Clamped(sp)
  const input = <usize>load<u32>(frame, frameInput)
  if (<u64>from + 32 <= <u64>size) {
    loadBig(sp, input + from)
    return
  }
  if (from >= size) {
    zero(sp)
    return
  }
  zero(scratch)
  memory.copy(scratch, input + from, size - from)
  loadBig(sp, scratch)
}

/** BLOBHASH; EIP-4844. */
export function blobhash(sp: usize): void {
  const index = toU32Clamped(sp)
  if (index >= load<u32>(ctxBlobHashCount)) zero(sp)
  else copyWord(sp, <usize>ctxBlobHashes + (<usize>index << 5))
}

/** Number + 1 of the block whose hash the host provided last, and that hash; reset with the session. */
let hashedNumber: u64 = 0
const blockHash: usize = memory.data(32)

/** Called when the host has written the requested block hash to `ioBase`. */
export function setBlockHash(): void {
  hashedNumber = <u64>load<u32>(ctxExitId) + 1
  memory.copy(blockHash, ioBase, 32)
}

export function forgetBlockHash(): void {
  hashedNumber = 0
}

/** BLOCKHASH: the hash of one of the 256 previous blocks, otherwise zero. */
export function blockhash(sp: usize): i32 {
  const current = load<u64>(ctxNumber)
  const number = load<u64>(sp)
  const isSmall = (load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) === 0
  if (!isSmall || number >= current || current - number > 256) {
    zero(sp)
    return goOn
  }
  if (hashedNumber !== number + 1) {
    store<u32>(ctxExitId, <u32>number)
    return exitBlockHash
  }
  loadBig(sp, blockHash)
  return goOn
}

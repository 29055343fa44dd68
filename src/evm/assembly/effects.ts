import { exitFor } from './calls'
import { charge, gasLeft, perWord } from './gas'
import { forkCancun, frameEnds, frameIsStatic, frameMemory, frameSelf, gasColdAccount, gasKeccakWord, gasLogByte, gasNewAccount, goOn } from './internal'
import { keepOutput } from './frames'
import { keccak256Word } from './keccak'
import {
  accountBalance,
  ctxFork,
  ctxFrames,
  ctxReturnSize,
  endedOutOfGas,
  endedRevert,
  endedSuccess,
  endedWriteProtection,
  exitAccount,
} from './layout'
import { expandMemory, memoryCost, rangeEnd, unpayable } from './memory'
import { accountOf, addLog, destroy, isCreatedNow, isEmpty, isLoaded, setBalance, transfer, warm, warmAccountOf } from './state/state'
import { kindSelfdestruct } from '../wasm/traceLayout'
import { queueEnter, queueLeave } from './trace'
import { copyWord, isZero, toU32Clamped } from './word/word'

/** Pays for and expands the memory range of two words, plus `extra` gas. Returns false when the gas does not suffice. */
function payRange(frame: usize, offset: usize, size: usize, extra: u64): bool {
  const end = rangeEnd(offset, size)
  const price = memoryCost(frame, end)
  if (price >= unpayable || !charge(price + extra)) return false
  expandMemory(frame, end)
  return true
}

/** Returns the address of an existing memory range. */
function rangeAt(frame: usize, offset: usize, size: u32): usize {
  return <usize>load<u32>(frame, frameMemory) + (size === 0 ? 0 : <usize>toU32Clamped(offset))
}

/** Executes KECCAK256; the result replaces the size operand. */
export function keccak(frame: usize, sp: usize): i32 {
  const size = toU32Clamped(sp - 32)
  if (!payRange(frame, sp, sp - 32, perWord(size, gasKeccakWord))) return frameEnds + endedOutOfGas
  keccak256Word(rangeAt(frame, sp, size), size, sp - 32)
  return goOn
}

/** Executes LOG0 to LOG4. */
export function log(frame: usize, sp: usize, topics: u32): i32 {
  if (load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  const size = toU32Clamped(sp - 32)
  if (!payRange(frame, sp, sp - 32, <u64>size * gasLogByte)) return frameEnds + endedOutOfGas
  addLog(<usize>load<u32>(frame, frameSelf), topics, sp - 64, rangeAt(frame, sp, size), size)
  return goOn
}

/** Executes RETURN and REVERT. */
export function endWith(frame: usize, sp: usize, ended: i32): i32 {
  const size = toU32Clamped(sp - 32)
  if (!payRange(frame, sp, sp - 32, 0)) return frameEnds + endedOutOfGas
  keepOutput(rangeAt(frame, sp, size), size)
  return frameEnds + ended
}

export function stop(): i32 {
  store<u32>(ctxReturnSize, 0)
  return frameEnds + endedSuccess
}

const balance: usize = memory.data(32)
const nothing: usize = memory.data(32)

/**
 * Executes SELFDESTRUCT: transfers the balance to another account. From Cancun on, the contract itself is removed only when it was created in the
 * same
 * transaction (EIP-6780); a removed contract that names itself burns its balance.
 */
export function selfdestruct(frame: usize, sp: usize): i32 {
  if (load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  const self = <usize>load<u32>(frame, frameSelf)
  const known = warmAccountOf(sp)
  let cost: u64 = known !== 0 ? 0 : gasColdAccount
  if (cost > gasLeft()) return frameEnds + endedOutOfGas
  const heir = known !== 0 ? known : accountOf(sp)
  if (!isLoaded(heir)) return exitFor(exitAccount, heir)
  if (!isZero(self + accountBalance) && isEmpty(heir)) cost += gasNewAccount
  if (!charge(cost)) return frameEnds + endedOutOfGas
  warm(heir)
  if (isDefined(TRACED)) {
    queueEnter(kindSelfdestruct, load<u32>(ctxFrames), 0, self, heir, self, self + accountBalance, 0, 0)
    queueLeave(endedSuccess, load<u32>(ctxFrames), 0, 0, 0)
  }
  const goes = load<u32>(ctxFork) < forkCancun || isCreatedNow(self)
  if (heir !== self) {
    copyWord(balance, self + accountBalance)
    transfer(self, heir, balance)
  } else if (goes) setBalance(self, nothing)
  if (goes) destroy(self)
  return goOn
}

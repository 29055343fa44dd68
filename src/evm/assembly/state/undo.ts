// Undo log. A record has the previous value and then a u64 with its kind and entry, so the log is read from its end. Undoing a record
// writes fields of the entry back. A checkpoint is a length of the log.
import {
  accountBalance,
  accountCode,
  accountCodeHash,
  accountCreatedIn,
  accountDestroyedIn,
  accountExistsFlag,
  accountFlags,
  accountNonce,
  accountTouchedIn,
  accountWarmIn,
  ctxLogsTop,
  ctxUndoTop,
  logsBase,
  slotValue,
  slotWarmIn,
  transientValue,
  undoBase,
  undoEnd,
} from '../layout'
import { copyWord } from '../word/word'

export const undoBalance: u32 = 0
export const undoNonce: u32 = 1
export const undoCodeHash: u32 = 2
export const undoCreated: u32 = 3
export const undoExists: u32 = 4
export const undoTouched: u32 = 5
export const undoDestroyed: u32 = 6
export const undoWarmAccount: u32 = 7
export const undoWarmSlot: u32 = 8
export const undoSlot: u32 = 9
export const undoTransient: u32 = 10
/** Holds the previous end of the log records instead of an entry. */
export const undoLog: u32 = 11

/** Highest ends since the instance was created; memory up to them is resident. */
let undoHigh: usize = undoBase
let logsHigh: usize = logsBase

export function undoHighest(): usize {
  return undoHigh
}

export function logsHighest(): usize {
  return logsHigh
}

/** Updates the highest ends of undo log and log records; must run before the ends decrease. */
export function markHighest(): void {
  undoHigh = max(undoHigh, <usize>load<u32>(ctxUndoTop))
  logsHigh = max(logsHigh, <usize>load<u32>(ctxLogsTop))
}

// @ts-ignore: decorator
@inline
function room(bytes: usize): usize {
  const top = <usize>load<u32>(ctxUndoTop)
  const next = top + bytes
  if (next > <usize>undoEnd) unreachable()
  store<u32>(ctxUndoTop, <u32>next)
  return top
}

// @ts-ignore: decorator
@inline
function name(at: usize, kind: u32, entry: usize): void {
  store<u64>(at, (<u64>kind << 32) | <u64>entry)
}

/** Adds a record without a value. */
export function save(kind: u32, entry: usize): void {
  name(room(8), kind, entry)
}

/** Adds a record with a number. */
export function saveNumber(kind: u32, entry: usize, value: u64): void {
  const at = room(16)
  store<u64>(at, value)
  name(at + 8, kind, entry)
}

/** Adds a record with the 32 bytes at `word`. */
export function saveWord(kind: u32, entry: usize, word: usize): void {
  const at = room(40)
  copyWord(at, word)
  name(at + 32, kind, entry)
}

// @ts-ignore: decorator
@inline
export function checkpoint(): u32 {
  return load<u32>(ctxUndoTop)
}

/** Returns the bytes before the name in a record of the kind. */
// @ts-ignore: decorator
@inline
function payloadOf(kind: u32): usize {
  if (kind === undoBalance || kind === undoCodeHash || kind === undoSlot || kind === undoTransient) return 32
  return kind === undoNonce || kind === undoCreated ? 8 : 0
}

/** Undoes all changes since the checkpoint: accounts, slots, warmth, transient storage and logs, but not the refund. */
export function revertTo(checkpoint: u32): void {
  markHighest()
  let top = <usize>load<u32>(ctxUndoTop)
  while (top > <usize>checkpoint) {
    const record = load<u64>(top - 8)
    const kind = <u32>(record >>> 32)
    const entry = <usize>(<u32>record)
    top -= 8 + payloadOf(kind)
    undo(kind, entry, top)
  }
  store<u32>(ctxUndoTop, checkpoint)
}

function undo(kind: u32, entry: usize, before: usize): void {
  switch (kind) {
    case undoBalance:
      copyWord(entry + accountBalance, before)
      return
    case undoNonce:
      store<u64>(entry, load<u64>(before), accountNonce)
      return
    case undoCodeHash:
      copyWord(entry + accountCodeHash, before)
      store<u32>(entry, 0, accountCode)
      return
    case undoCreated:
      store<u32>(entry, load<u32>(before), accountCreatedIn)
      return
    case undoExists:
      store<u32>(entry, load<u32>(entry, accountFlags) & ~accountExistsFlag, accountFlags)
      return
    case undoTouched:
      store<u32>(entry, 0, accountTouchedIn)
      return
    case undoDestroyed:
      store<u32>(entry, 0, accountDestroyedIn)
      return
    case undoWarmAccount:
      store<u32>(entry, 0, accountWarmIn)
      return
    case undoWarmSlot:
      store<u32>(entry, 0, slotWarmIn)
      return
    case undoSlot:
      copyWord(entry + slotValue, before)
      return
    case undoTransient:
      copyWord(entry + transientValue, before)
      return
    default:
      store<u32>(ctxLogsTop, <u32>entry)
  }
}

/** Position of the walk of `nextMarked`. */
let walked: usize = 0

/** Starts a walk from the end of the log. */
export function beginWalk(): void {
  walked = <usize>load<u32>(ctxUndoTop)
}

/** Returns the next account with a touched or destroyed record, with the highest bit set for destroyed; 0 at the end. */
export function nextMarked(): u64 {
  while (walked > <usize>undoBase) {
    const record = load<u64>(walked - 8)
    const kind = <u32>(record >>> 32)
    walked -= 8 + payloadOf(kind)
    if (kind === undoTouched || kind === undoDestroyed) return record
  }
  return 0
}

/** Clears all records. */
export function clearUndo(): void {
  markHighest()
  store<u32>(ctxUndoTop, undoBase)
}

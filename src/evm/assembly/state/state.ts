// World state of an open session: the data of the view, changed in place, with an undo log for reverts. Entries never move in a session, so
// a pointer identifies an account or a slot. A full region traps: the host turns the trap into a fault and drops the instance.
import {
  accountsBase,
  ctxAccountsTop,
  ctxBeneficiary,
  ctxFork,
  ctxLogsTop,
  ctxOrigin,
  ctxRefund,
  ctxSlotsTop,
  ctxTransaction,
  logsBase,
  slotsBase,
  transientBase,
  undoBase,
} from '../layout'
import { accountOf, accountsHighest, clearAccounts, exists, forgetChangedAccounts, isEmpty, remove, warm } from './accounts'
import { drawKeys } from './hash'
import { clearSlots, restoreChangedSlots, slotsHighest } from './slots'
import { clearTransient, transientHighest } from './transient'
import { beginWalk, clearUndo, logsHighest, nextMarked, undoDestroyed, undoHighest } from './undo'

export {
  accountAt,
  accountOf,
  covers,
  create,
  credit,
  debit,
  destroy,
  exists,
  hasNoCode,
  hasOldStorage,
  isCreatedNow,
  isEmpty,
  isLoaded,
  isWarm,
  nextChangedAccount,
  setBalance,
  setCodeHash,
  setNonce,
  touch,
  transfer,
  warm,
  warmAccountOf,
} from './accounts'
export { addLog } from './logs'
export { nativeNumber } from './special'
export {
  freshen,
  hashSlot,
  isSlotLoaded,
  isSlotWarm,
  loadSlot,
  nextChangedSlot,
  setSlot,
  slotOf,
  warmSlot,
  warmSlotOf,
} from './slots'
export { setTransient, transientOf } from './transient'
export { checkpoint, revertTo } from './undo'

/**
 * Begins a session. The host has written secrets, fork, block and precompiles.
 * @param keeps 0: forgets the previous session. 1: this session has the same view and rules; data loaded from the view is kept, and changes are
 * undone
 */
export function openSession(keeps: u32): void {
  if (keeps !== 0) {
    restoreChangedSlots()
    forgetChangedAccounts()
    forgetTransaction()
    store<u32>(ctxTransaction, load<u32>(ctxTransaction) + 1)
    return
  }
  drawKeys()
  clearAccounts()
  clearSlots()
  forgetTransaction()
  store<u32>(ctxTransaction, 1)
}

/** Warms the sender and, from Shanghai on, the beneficiary (EIP-3651). The host warms the entries that the transaction names. */
export function beginTransaction(): void {
  store<i64>(ctxRefund, 0)
  warm(accountOf(ctxOrigin))
  if (load<u32>(ctxFork) > 0) warm(accountOf(ctxBeneficiary))
}

/** Removes destroyed accounts and accounts that are touched and empty, and cools everything. Cost is proportional to the transaction's changes. */
export function endTransaction(): void {
  beginWalk()
  for (;;) {
    const record = nextMarked()
    if (record === 0) break
    const a = <usize>(<u32>record)
    if (<u32>(record >>> 32) === undoDestroyed || (exists(a) && isEmpty(a))) remove(a)
  }
  forgetTransaction()
  store<u32>(ctxTransaction, load<u32>(ctxTransaction) + 1)
}

function forgetTransaction(): void {
  clearUndo()
  clearTransient()
  store<u32>(ctxLogsTop, logsBase)
}

/** Returns the bytes of account and slot entries. */
export function tableBytes(): u32 {
  return load<u32>(ctxAccountsTop) - accountsBase + (load<u32>(ctxSlotsTop) - slotsBase)
}

/** Returns the bytes of these regions that were ever touched and so are resident. Excludes the indexes. */
export function stateBytesTouched(): u32 {
  return <u32>(
    (accountsHighest() - accountsBase) +
    (slotsHighest() - slotsBase) +
    (transientHighest() - transientBase) +
    (undoHighest() - undoBase) +
    (logsHighest() - logsBase)
  )
}

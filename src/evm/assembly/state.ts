// The world while a session is open: what the view has, changed in place, with an undo log for reverts. Entries never move in a session, so
// a pointer names an account or a slot. A full region ends in a trap: the host turns it into a fault and drops the instance.
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
} from './layout'
import { accountOf, accountsHighest, clearAccounts, exists, forgetChangedAccounts, isEmpty, remove, warm } from './stateAccounts'
import { drawKeys } from './stateHash'
import { clearSlots, restoreChangedSlots, slotsHighest } from './stateSlots'
import { clearTransient, transientHighest } from './stateTransient'
import { beginWalk, clearUndo, logsHighest, nextMarked, undoDestroyed, undoHighest } from './stateUndo'

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
} from './stateAccounts'
export { addLog } from './stateLogs'
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
} from './stateSlots'
export { setTransient, transientOf } from './stateTransient'
export { checkpoint, revertTo } from './stateUndo'

/**
 * Begins a session. The host has written secrets, fork, block and precompiles.
 * @param keeps 0: the session before is forgotten. 1: this one has the same view and rules; what that view was asked is still known, and what was
 * changed is undone
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

/** What starts warm: the sender, and from Shanghai the beneficiary (EIP-3651). The host warms what the transaction names. */
export function beginTransaction(): void {
  store<i64>(ctxRefund, 0)
  warm(accountOf(ctxOrigin))
  if (load<u32>(ctxFork) > 0) warm(accountOf(ctxBeneficiary))
}

/** Removes what destroyed itself and what is touched and empty; the next transaction starts with nothing warm. Costs what was done. */
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

/** Bytes of the entries of accounts and slots. */
export function tableBytes(): u32 {
  return load<u32>(ctxAccountsTop) - accountsBase + (load<u32>(ctxSlotsTop) - slotsBase)
}

/** Bytes of this file's regions that were ever touched: they are resident. Indexes are left out. */
export function stateBytesTouched(): u32 {
  return <u32>(
    (accountsHighest() - accountsBase) +
    (slotsHighest() - slotsBase) +
    (transientHighest() - transientBase) +
    (undoHighest() - undoBase) +
    (logsHighest() - logsBase)
  )
}
